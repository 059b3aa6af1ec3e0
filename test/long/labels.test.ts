/** The nets of other seeds: `SEEDS=1-5000 npx node test/long/labels.test.ts`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareLabels, reductionCases } from '../verify/labels.ts';
import { readSeedRange } from './seed-range.ts';

const seeds = readSeedRange(2_000, 100_001);

for (const [name, reductions] of Object.entries(reductionCases))
  test(`on ${seeds.text} random nets with labels the prover with ${name} and an independent search never disagree`, async (t) => {
    const tally = await compareLabels({ ...seeds, mostNaiveStates: 400, reductions });
    t.diagnostic(`${tally.proved} proved, ${tally.refuted} refuted, ${tally.unknown} unknown`);
    assert.deepEqual(tally.disagreements, []);
  });
