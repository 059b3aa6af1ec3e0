import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareContracts } from './random-contracts.ts';
import { compareStubTrees } from './stub-trees.ts';

// test/long/contracts.test.ts compares thousands.
const NETS = 60;
const TREES = 16;

test('nothing follows from random contracts of random nets that an independent search refutes', () => {
  const tally = compareContracts(NETS, 1, 400);
  assert.deepEqual(tally.unsound, []);
  assert.ok(tally.proved >= NETS, `${tally.proved} proved`);
  assert.ok(tally.refuted >= NETS, `${tally.refuted} refuted`);
  assert.ok(tally.broken >= NETS / 10, `${tally.broken} nets with a broken contract`);
});

test('nothing follows from the contracts of stub agents that a search of the whole tree refutes', async () => {
  const tally = await compareStubTrees(TREES, 1, 3_000);
  assert.deepEqual(tally.unsound, []);
  assert.ok(tally.proved >= TREES, `${tally.proved} proved`);
  assert.ok(tally.refuted > 0, `${tally.refuted} refuted`);
});
