/**
 * Compares a search without reductions, with each of them, and with all, with the naive search on random nets. To compare
 * the nets of other seeds: `SEEDS=1-5000 npx node test/long/reductions.test.ts`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareArcs } from '../verify/arcs.ts';
import { compare } from '../verify/differential.ts';
import { reductionCases } from '../verify/labels.ts';
import { readSeedRange } from './seed-range.ts';

const seeds = readSeedRange(10_000, 1_000_001);

for (const [name, reductions] of Object.entries(reductionCases))
  test(`on ${seeds.text} random nets the prover with ${name} and an independent search never disagree`, async (t) => {
    const tally = await compare({
      ...seeds,
      mostNaiveStates: 1_000,
      options: { route: 'search', reductions },
    });
    const { nets, proved, refuted, unknown, skipped, by, disagreements } = tally;
    t.diagnostic(
      JSON.stringify({ nets, proved, refuted, unknown, skipped, ...Object.fromEntries(by) }),
    );
    assert.deepEqual(disagreements, []);
  });

test('an order of firings that the arcs of random nets show is kept by every run', (t) => {
  const { firstSeed, lastSeed = firstSeed + 4_999 } = seeds;
  const { unsound, ...tally } = compareArcs(firstSeed, lastSeed - firstSeed + 1, 300);
  t.diagnostic(JSON.stringify(tally));
  assert.deepEqual(unsound, []);
});
