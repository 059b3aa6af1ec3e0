import { test } from 'node:test';
import * as fc from 'fast-check';
import { liveSchedules, runLiveSchedule } from '../live/random-schedules.ts';

test('for random schedules, a live session comes to rest and loses and repeats nothing', async (t) => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  const numRuns = Number(process.env['RUNS'] ?? 1_000);
  t.diagnostic(`seed ${seed}, ${numRuns} schedules`);
  await fc.assert(fc.asyncProperty(liveSchedules, runLiveSchedule), { numRuns, seed });
});
