import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { auditLife } from '../managed/audit-life.ts';
import { parkAcrossRestart } from '../managed/park-across-restart.ts';
import { answerAtOnce } from '../managed/two-answers.ts';
import { lifePlans, liveRandomly } from '../managed/random-life.ts';

test('a thousand calls wait across a restart, and each gets its own answer', async () => {
  await parkAcrossRestart(1000);
});

test('three thousand lives of a session, each with another history of messages, answers, moves and deaths', async () => {
  await fc.assert(
    fc.asyncProperty(lifePlans, async (plan) => {
      assert.deepEqual(auditLife(await liveRandomly(plan)), []);
    }),
    { numRuns: 3000 },
  );
});

test('two processes answer two hundred calls at once, and each call has one answer', async () => {
  await answerAtOnce(200);
});
