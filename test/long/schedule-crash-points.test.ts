import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashAtWrites } from '../crash/schedule-crash-points.ts';

test('a schedule runs each due time once, with a crash before and after every write', async () => {
  const crashes = await crashAtWrites(1, 0);
  assert.ok(crashes >= 32, `${crashes} crashes`);
});
