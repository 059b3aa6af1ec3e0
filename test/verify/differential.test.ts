import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prove } from '../../src/verify/prove.ts';
import { npmZ3 } from '../../src/verify/smt/solver.ts';
import { compare, compareMarkings } from './differential.ts';
import { mutations } from './mutations.ts';
import { features, randomNet } from './random-net.ts';
import { runAtRandom } from './random-run.ts';

// test/long/differential.test.ts compares thousands. The seeds here are fixed: some nets take 20 s.
const NETS = 80;
const SOLVER_NETS = 2;
const MARKING_NETS = 20;
const RUN_NETS = 8;
const LARGE_NETS = 5;

test('on random nets the prover and an independent search never disagree', async () => {
  const tally = await compare({
    nets: NETS,
    firstSeed: 1,
    mostNaiveStates: 400,
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

test('on random nets each reduction decides some properties, and none wrongly', async () => {
  const options = { route: 'search', reductions: { after: 0 } } as const;
  const reduced = await compare({
    nets: NETS / 2,
    firstSeed: 5_301,
    mostNaiveStates: 400,
    options,
  });
  assert.deepEqual(reduced.disagreements, []);
  for (const method of ['search of a slice', 'search within smaller bounds']) {
    const decided = reduced.by.get(method) ?? 0;
    assert.ok(decided >= NETS / 20, `${method}: ${decided} of ${NETS / 2} properties`);
  }
});

test('on random nets with larger counts no reduction decides wrongly', async () => {
  const options = { route: 'search', reductions: { after: 0 } } as const;
  const nets = {
    nets: LARGE_NETS,
    firstSeed: 6_001,
    mostNaiveStates: 300,
    size: 'large',
  } as const;
  const { disagreements } = await compare({ ...nets, options });
  assert.deepEqual(disagreements, []);
});

test('on random nets the solver proves no property that does not hold', async () => {
  const tally = await compare({
    nets: SOLVER_NETS,
    firstSeed: 14,
    mostNaiveStates: 400,
    options: { route: 'solver', solver: npmZ3(), solverLimits: { timeoutMs: 3_600_000 } },
    atOnce: 2,
  });
  assert.deepEqual(tally.disagreements, []);
  assert.ok(tally.proved > 0);
});

test('the prover explores exactly the reachable markings', () => {
  assert.deepEqual(compareMarkings({ nets: MARKING_NETS, firstSeed: 1, mostNaiveStates: 300 }), []);
});

for (const [name, distort] of Object.entries(mutations)) {
  test(`a prover that ${name} is detected`, () => {
    const nets = { nets: 100, firstSeed: 1, mostNaiveStates: 300 };
    assert.notDeepEqual(compareMarkings({ ...nets, mutate: distort, untilOne: true }), []);
  });
}

test('on random nets with large weights, limits and numbers of tokens the searches never disagree', async () => {
  const tally = await compare({
    nets: LARGE_NETS,
    firstSeed: 1,
    size: 'large',
    mostNaiveStates: 500,
    options: { route: 'search' },
  });
  assert.deepEqual(tally.disagreements, []);
  assert.ok(tally.proved > 0 && tally.refuted > 0);
});

test('a counterexample with another attempt of an effect is replayed', async () => {
  const generated = randomNet(53_932);
  assert.ok(generated !== undefined);
  const { net, property, bounds } = generated;
  const reductions = { arcs: false, smallerBounds: false, slicing: false, anyOrder: false };
  const { results } = await prove(net, {
    properties: [property],
    bounds,
    route: 'search',
    reductions,
  });
  assert.equal(results[0]?.verdict, 'refuted', results[0]?.reason);
  assert.ok(results[0]?.trace?.steps.some(({ kind }) => kind === 'restarted'));
});

test('runs with random outcomes and times stay inside the explored markings', () => {
  let nets = 0;
  let markings = 0;
  for (let seed = 1; nets < RUN_NETS; seed++) {
    const generated = randomNet(seed);
    const result = generated && runAtRandom(generated.net, generated.bounds, 5, seed);
    if (result === undefined) continue;
    nets++;
    markings += result.markings;
    assert.deepEqual(result.outside, [], `seed ${seed}`);
  }
  assert.ok(markings > 5 * RUN_NETS, `${markings} markings`);
});
