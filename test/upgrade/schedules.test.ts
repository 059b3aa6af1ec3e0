/** Schedules of earlier releases, whose nets were others, continue as they were stored. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pickSample } from '../sample-seed.ts';
import { continueSchedules, crashAtWrites, EXPECTED } from './continue-schedules.ts';

/** The test in `test/long/` crashes at every write. */
const SHARE = 24;

for (const fixture of ['first.db', 'grown.db'])
  test(`schedules of an earlier release lose and double no due time: ${fixture}`, async () => {
    const { runs, messages } = await continueSchedules(fixture);
    assert.deepEqual({ runs, messages }, EXPECTED);
  });

test('schedules of an earlier release continue wherever the process crashes that takes them over', async () => {
  const crashes = await crashAtWrites(SHARE, pickSample(SHARE, 'schedules of an earlier release'));
  assert.ok(crashes > 1);
});
