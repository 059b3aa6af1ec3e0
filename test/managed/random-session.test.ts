import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { findSessionFaults } from './find-session-faults.ts';
import { sessionPlans, runSessionPlan } from './random-session.ts';
import type { SessionPlan } from './random-session.ts';

// test/long/managed.test.ts runs thousands of them.
test('under any inputs and process deaths, a session’s log, statuses and calls stay correct', async () => {
  await fc.assert(
    fc.asyncProperty(sessionPlans, async (plan) => {
      assert.deepEqual(findSessionFaults(await runSessionPlan(plan)), []);
    }),
    { numRuns: 50, seed: 20_261_121 },
  );
});

test('an interrupt that comes when the next turn runs already ends neither of the two', async () => {
  const plan: SessionPlan = {
    acts: [
      { by: 1, turns: 1, do: 'say', text: 'plain' },
      { by: 0, turns: 3, do: 'say', text: 'plain' },
      { by: 0, turns: 0, do: 'move', to: 'interrupt' },
      { by: 1, turns: 0, do: 'say', text: 'late' },
      { by: 0, turns: 10, do: 'advance', ms: 1 },
    ],
    verdicts: [],
  };
  assert.deepEqual(findSessionFaults(await runSessionPlan(plan)), []);
});

test('the audit of a life finds what is planted in it', async () => {
  const say = { by: 0, turns: 40, do: 'say', text: 'count' } as const;
  const lived = await runSessionPlan({ acts: [say, say], verdicts: [] });
  assert.deepEqual(findSessionFaults(lived), []);
  const { log, steps, seen } = lived;
  const ended = log.findIndex(({ type }) => type === 'turn.ended');
  const result = log.findIndex(({ type }) => type === 'tool.result');
  const planted: readonly Partial<typeof lived>[] = [
    { log: log.toSpliced(ended, 1) },
    { log: log.toSpliced(result, 1) },
    { log: [...log, ...log.slice(result, result + 1)] },
    { seen: [...seen, log.slice(1)] },
    { steps: steps.slice(1) },
    { status: 'paused' },
    { accepted: ['m9'] },
    { paid: { call_x: 2 } },
    { faults: ['something'] },
  ];
  for (const change of planted) assert.notDeepEqual(findSessionFaults({ ...lived, ...change }), []);
});
