/** The nets and trees of other seeds: `SEEDS=1-5000 npx node test/long/contracts.test.ts`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareContracts } from '../verify/random-contracts.ts';
import { compareStubTrees } from '../verify/stub-trees.ts';
import { readSeedRange } from './seed-range.ts';

const random = readSeedRange(2_000, 5_000);
const stubs = readSeedRange(2_000, 1);

for (const size of ['small', 'large'] as const)
  test(`nothing follows from random contracts of ${random.text} random nets with ${size} numbers that an independent search refutes`, (t) => {
    const { nets, firstSeed, lastSeed } = random;
    const { unsound, ...tally } = compareContracts(nets, firstSeed, 2_000, size, lastSeed);
    t.diagnostic(JSON.stringify(tally));
    assert.deepEqual(unsound, []);
    const compared = tally.kept;
    assert.ok(tally.proved >= compared && tally.refuted >= compared);
    assert.ok(tally.broken >= compared / 10);
  });

test(`nothing follows from the contracts of ${stubs.text} trees of stub agents that a search of the tree refutes`, async (t) => {
  const { nets, firstSeed, lastSeed } = stubs;
  const { unsound, weak, ...tally } = await compareStubTrees(nets, firstSeed, 20_000, lastSeed);
  t.diagnostic(JSON.stringify({ ...tally, weak: weak.length }));
  assert.deepEqual(unsound, []);
  assert.ok(tally.proved >= tally.trees && (lastSeed !== undefined || tally.refuted > 0));
});
