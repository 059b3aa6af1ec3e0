import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { findSessionFaults } from './find-session-faults.ts';
import { sessionPlans, runSessionPlan } from './random-session.ts';
import type { SessionPlan } from './random-session.ts';

// test/long/managed.test.ts runs thousands of them.
test('for random inputs and crashes, the log, statuses and calls of a session are consistent', async () => {
  await fc.assert(
    fc.asyncProperty(sessionPlans, async (plan) => {
      assert.deepEqual(findSessionFaults(await runSessionPlan(plan)), []);
    }),
    { numRuns: 50, seed: 20_261_121 },
  );
});

test('an interrupt that arrives after its turn ended does not interrupt the next turn', async () => {
  const plan: SessionPlan = {
    actions: [
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

test('findSessionFaults() detects each planted fault', async () => {
  const sendCount = { by: 0, turns: 40, do: 'say', text: 'count' } as const;
  const result = await runSessionPlan({ actions: [sendCount, sendCount], verdicts: [] });
  assert.deepEqual(findSessionFaults(result), []);
  const { log, steps, seen } = result;
  const ended = log.findIndex(({ type }) => type === 'turn.ended');
  const resultIndex = log.findIndex(({ type }) => type === 'tool.result');
  const plantedFaults: readonly Partial<typeof result>[] = [
    { log: log.toSpliced(ended, 1) },
    { log: log.toSpliced(resultIndex, 1) },
    { log: [...log, ...log.slice(resultIndex, resultIndex + 1)] },
    { seen: [...seen, log.slice(1)] },
    { steps: steps.slice(1) },
    { status: 'paused' },
    { accepted: ['m9'] },
    { paid: { call_x: 2 } },
    { faults: ['something'] },
  ];
  for (const change of plantedFaults)
    assert.notDeepEqual(findSessionFaults({ ...result, ...change }), []);
});
