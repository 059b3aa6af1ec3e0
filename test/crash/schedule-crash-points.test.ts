import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pickSample } from '../sample-seed.ts';
import { crashAtWrites, EXPECTED, runScheduleWithCrash } from './schedule-crash-points.ts';

test('a schedule runs each due time once, wherever its process crashes', async () => {
  assert.deepEqual(await runScheduleWithCrash(undefined), { crashed: false, outcome: EXPECTED });
  const stride = 4;
  const crashes = await crashAtWrites(stride, pickSample(stride, 'crash of a schedule'));
  assert.ok(crashes >= 8, `${crashes} crashes`);
});
