import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { anySolver } from '../../src/verify/smt/solver.ts';
import { compare, compareMarkings } from '../verify/differential.ts';
import type { Comparison, Tally } from '../verify/differential.ts';
import { features, randomNet } from '../verify/random-net.ts';
import { runAtRandom } from '../verify/random-run.ts';

const NETS = 5_000;
const REDUCED_NETS = 10_000;
const COUNTING_NETS = 1_000;
const SOLVER_NETS = 1_000;
const MARKING_NETS = 1_000;
const RUN_NETS = 1_000;

test(`on ${NETS} random nets the prover and an independent search never disagree`, async (t) => {
  const tally = await compareAndReport(t, {
    nets: NETS,
    firstSeed: 1,
    options: { route: 'search', reductions: { anyOrder: false } },
  });
  assert.deepEqual(tally.disagreements, []);
  assert.ok(tally.unknown <= NETS * 0.05, `${tally.unknown} unknown`);
  assert.ok(tally.proved >= NETS / 4, `${tally.proved} proved`);
  assert.ok(tally.refuted >= NETS / 4, `${tally.refuted} refuted`);
  for (const feature of features) {
    const nets = tally.withFeature.get(feature) ?? 0;
    assert.ok(nets >= NETS * 0.3, `${feature} in ${nets} of ${NETS} nets`);
  }
});

test(`on ${REDUCED_NETS} random nets the prover with all reductions and an independent search never disagree`, async (t) => {
  const options = { route: 'search', reductions: { after: 0 } } as const;
  const tally = await compareAndReport(t, { nets: REDUCED_NETS, firstSeed: 400_001, options });
  assert.deepEqual(tally.disagreements, []);
  for (const method of ['search of a slice', 'search within smaller bounds'])
    assert.ok((tally.by.get(method) ?? 0) >= REDUCED_NETS / 10, method);
});

test(`on ${COUNTING_NETS} random nets with larger counts the same holds`, async (t) => {
  const options = { route: 'search', reductions: { after: 0 } } as const;
  const nets = {
    nets: COUNTING_NETS,
    firstSeed: 600_001,
    size: 'large',
    mostNaiveStates: 1_000,
  } as const;
  const tally = await compareAndReport(t, { ...nets, options });
  assert.deepEqual(tally.disagreements, []);
});

test(`on ${SOLVER_NETS} random nets the solver proves no property that does not hold`, async (t) => {
  const tally = await compareAndReport(t, {
    nets: SOLVER_NETS,
    firstSeed: 100_001,
    options: { route: 'solver', solver: anySolver(), solverLimits: { timeoutMs: 2_000 } },
    atOnce: 2,
  });
  assert.deepEqual(tally.disagreements, []);
  assert.ok(tally.proved >= SOLVER_NETS / 10, `${tally.proved} proved`);
});

test(`on ${MARKING_NETS} random nets the prover explores exactly the reachable markings`, () => {
  assert.deepEqual(compareMarkings({ nets: MARKING_NETS, firstSeed: 200_001 }), []);
});

test(`runs of ${RUN_NETS} random nets with random outcomes and times stay inside the explored markings`, (t) => {
  let nets = 0;
  let markings = 0;
  for (let seed = 300_001; nets < RUN_NETS; seed++) {
    const generated = randomNet(seed);
    const result = generated && runAtRandom(generated.net, generated.bounds, 10, seed);
    if (result === undefined) continue;
    nets++;
    markings += result.markings;
    assert.deepEqual(result.outside, [], `seed ${seed}`);
  }
  t.diagnostic(`${markings} markings`);
});

async function compareAndReport(t: TestContext, comparison: Comparison): Promise<Tally> {
  const tally = await compare(comparison);
  const { withFeature, by, reasons, disagreements: _, ...counts } = tally;
  const share = [...withFeature].map(([feature, n]) => [
    feature,
    `${Math.round((100 * n) / tally.nets)} %`,
  ]);
  t.diagnostic(JSON.stringify(counts));
  t.diagnostic(JSON.stringify(Object.fromEntries([...by, ...reasons])));
  t.diagnostic(JSON.stringify(Object.fromEntries(share)));
  return tally;
}
