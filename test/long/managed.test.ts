import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { findSessionFaults } from '../managed/find-session-faults.ts';
import { parkAcrossRestart } from '../managed/park-across-restart.ts';
import { answerAtOnce } from '../managed/answer-concurrently.ts';
import { sessionPlans, runSessionPlan } from '../managed/random-session.ts';

test('a thousand calls wait across a restart, and each gets its own result', async () => {
  await parkAcrossRestart(1000);
});

test('for 3,000 random histories with crashes, the log, statuses and calls of a session are consistent', async () => {
  await fc.assert(
    fc.asyncProperty(sessionPlans, async (plan) => {
      assert.deepEqual(findSessionFaults(await runSessionPlan(plan)), []);
    }),
    { numRuns: 3000 },
  );
});

test('when two processes answer two hundred calls concurrently, one answer per call is accepted', async () => {
  await answerAtOnce(200);
});
