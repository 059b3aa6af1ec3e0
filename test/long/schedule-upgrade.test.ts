import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashAtWrites } from '../upgrade/continue-schedules.ts';

test('schedules of an earlier release continue wherever the process crashes that takes them over', async (t) => {
  const crashes = await crashAtWrites(1, 0);
  t.diagnostic(`${crashes} crashes`);
  assert.ok(crashes > 100);
});
