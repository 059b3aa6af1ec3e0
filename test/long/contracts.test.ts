/** The nets and trees of other seeds: `SEEDS=1-5000 npx node test/long/contracts.test.ts`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareGroupedNets } from '../verify/grouped-nets.ts';
import { compareContracts } from '../verify/random-contracts.ts';
import { compareStubTrees } from '../verify/stub-trees.ts';
import { compareTwinNets } from '../verify/twin-nets.ts';
import { readSeedRange } from './seed-range.ts';

const random = readSeedRange(2_000, 5_000);
const stubs = readSeedRange(2_000, 1);
const grouped = readSeedRange(5_000, 1);
const twins = readSeedRange(2_000, 1);

/** Views with more states than this count the tokens of several places together. */
const threshold = { 'as in a proof': undefined, 'places in groups': 0 };

for (const [views, mostWithoutGroups] of Object.entries(threshold)) {
  for (const size of ['small', 'large'] as const)
    test(`nothing follows from random contracts of ${random.text} random nets with ${size} numbers that an independent search refutes (views: ${views})`, (t) => {
      const cases = { ...random, mostWithoutGroups };
      const { unsound, ...tally } = compareContracts(random.nets, 2_000, size, cases);
      t.diagnostic(JSON.stringify(tally));
      assert.deepEqual(unsound, []);
      const compared = tally.kept;
      assert.ok(tally.proved >= compared && tally.refuted >= compared);
      assert.ok(tally.broken >= compared / 10);
      if (mostWithoutGroups === 0) assert.ok(tally.grouped >= compared / 10);
    });

  test(`nothing follows from the contracts of ${stubs.text} trees of stub agents that a search of the tree refutes (views: ${views})`, async (t) => {
    const cases = { ...stubs, mostWithoutGroups };
    const { unsound, weak, ...tally } = await compareStubTrees(stubs.nets, 20_000, cases);
    t.diagnostic(JSON.stringify({ ...tally, weak: weak.length }));
    assert.deepEqual(unsound, []);
    assert.ok(tally.proved >= tally.trees && (stubs.lastSeed !== undefined || tally.refuted > 0));
  });
}

test(`nothing follows from contracts of equal components of ${twins.text} random nets that an independent search refutes`, (t) => {
  const { unsound, ...tally } = compareTwinNets(twins.nets, 1_500, twins);
  t.diagnostic(JSON.stringify(tally));
  assert.deepEqual(unsound, []);
  assert.ok(tally.proved >= tally.nets && tally.refuted >= tally.nets / 2);
});

test(`nothing follows from views that count similar places of ${grouped.text} random nets together that an independent search refutes`, (t) => {
  const { unsound, ...tally } = compareGroupedNets(grouped.nets, 3_000, grouped);
  t.diagnostic(JSON.stringify(tally));
  assert.deepEqual(unsound, []);
  assert.ok(tally.proved >= tally.nets && tally.refuted >= tally.nets);
});
