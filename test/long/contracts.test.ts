import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareContracts } from '../verify/random-contracts.ts';
import { compareStubTrees } from '../verify/stub-trees.ts';

const NETS = 2_000;
const TREES = 2_000;

test(`nothing follows from random contracts of ${NETS} random nets that an independent search refutes`, (t) => {
  const { unsound, ...tally } = compareContracts(NETS, 5_000, 2_000);
  t.diagnostic(JSON.stringify(tally));
  assert.deepEqual(unsound, []);
});

test(`nothing follows from random contracts of ${NETS} random nets with numbers above the caps of views`, (t) => {
  const { unsound, ...tally } = compareContracts(NETS, 5_000, 2_000, 'large');
  t.diagnostic(JSON.stringify(tally));
  assert.deepEqual(unsound, []);
});

test(`nothing follows from the contracts of ${TREES} trees of stub agents that a search of the tree refutes`, async (t) => {
  const { unsound, weak, ...tally } = await compareStubTrees(TREES, 1, 20_000);
  t.diagnostic(JSON.stringify({ ...tally, weak: weak.length }));
  assert.deepEqual(unsound, []);
});
