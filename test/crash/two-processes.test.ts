import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approveAtOnce } from './two-processes.ts';

test('of two processes that approve a call at once one is the first, the other is told, and the tool runs once', async (t) => {
  const { faults, ...figures } = await approveAtOnce(10);
  t.diagnostic(JSON.stringify(figures));
  assert.deepEqual(faults, []);
});
