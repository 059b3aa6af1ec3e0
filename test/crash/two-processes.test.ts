import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approveAtOnce } from './two-processes.ts';

test('when two processes approve a call concurrently, one succeeds, the other is refused, and the tool runs once', async (t) => {
  const { faults, ...figures } = await approveAtOnce(10);
  t.diagnostic(JSON.stringify(figures));
  assert.deepEqual(faults, []);
});
