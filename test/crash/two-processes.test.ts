import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approveAtOnce } from './two-processes.ts';

test('when two processes approve the same call concurrently, one approval counts and the tool runs once', async (t) => {
  const { faults, ...figures } = await approveAtOnce(10);
  t.diagnostic(JSON.stringify(figures));
  assert.deepEqual(faults, []);
});
