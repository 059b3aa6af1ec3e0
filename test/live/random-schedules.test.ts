import { test } from 'node:test';
import * as fc from 'fast-check';
import { liveSchedules, runLiveSchedule } from './random-schedules.ts';

// test/long/live-schedules.test.ts runs hundreds of them, others in each run.
test('for random schedules, a live session comes to rest and loses and repeats nothing', async () => {
  await fc.assert(fc.asyncProperty(liveSchedules, runLiveSchedule), { numRuns: 12, seed: 14 });
});
