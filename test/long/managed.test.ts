import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { findSessionFaults } from '../managed/find-session-faults.ts';
import { parkAcrossRestart } from '../managed/park-across-restart.ts';
import { answerAtOnce } from '../managed/two-answers.ts';
import { sessionPlans, runSessionPlan } from '../managed/random-session.ts';

test('a thousand calls wait across a restart, and each gets its own answer', async () => {
  await parkAcrossRestart(1000);
});

test('three thousand lives of a session, each with another history of messages, answers, moves and deaths', async () => {
  await fc.assert(
    fc.asyncProperty(sessionPlans, async (plan) => {
      assert.deepEqual(findSessionFaults(await runSessionPlan(plan)), []);
    }),
    { numRuns: 3000 },
  );
});

test('two processes answer two hundred calls at once, and each call has one answer', async () => {
  await answerAtOnce(200);
});
