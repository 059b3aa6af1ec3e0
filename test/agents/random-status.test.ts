import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { findStatusFaults } from './log-status.ts';
import type { StatusPlan } from './random-status.ts';
import { statusPlans, runStatusPlan, STATUS_KINDS } from './random-status.ts';
import type { SessionStatus } from '../../src/core/index.ts';

/** A tour through the statuses of each kind, so that the random plans need not find each of them. */
const TOURS = (Object.keys(STATUS_KINDS) as readonly StatusPlan['kind'][]).map(
  (kind): [StatusPlan] => [
    {
      kind,
      actions: [
        { do: 'send', text: 'ask', turns: 40 },
        { do: 'pause', turns: 20 },
        { do: 'resume', turns: 20 },
        { do: 'answer', turns: 40 },
        { do: 'answer', turns: 40 },
        { do: 'send', text: 'down', turns: 40 },
        { do: 'advance', ms: 60_000, turns: 40 },
        { do: 'advance', ms: 60_000, turns: 40 },
        { do: 'rewind', turns: 40 },
        { do: 'complete', turns: 20 },
        { do: 'archive', turns: 20 },
      ],
    },
  ],
);

test('for random inputs to sessions of every kind, the status changes only as the table allows', async () => {
  const seen = new Map<string, Set<SessionStatus>>();
  await fc.assert(
    fc.asyncProperty(statusPlans, async (plan) => {
      const { steps, faults } = await runStatusPlan(plan);
      assert.deepEqual([...faults, ...findStatusFaults(steps)], []);
      const statuses = seen.get(plan.kind) ?? new Set();
      seen.set(plan.kind, statuses);
      for (const { summary } of steps) statuses.add(summary.status);
    }),
    { numRuns: 120, seed: 20_261_122, examples: TOURS },
  );
  // Every kind was in every status that it can have.
  for (const [kind, { statuses }] of Object.entries(STATUS_KINDS))
    for (const status of statuses) assert.ok(seen.get(kind)?.has(status), `${kind} is ${status}`);
});

test('findStatusFaults() detects each planted fault', async () => {
  const { steps } = await runStatusPlan({
    kind: 'agent',
    actions: [
      { do: 'send', text: 'ask', turns: 40 },
      { do: 'pause', turns: 20 },
      { do: 'resume', turns: 20 },
      { do: 'answer', turns: 40 },
      { do: 'complete', turns: 20 },
    ],
  });
  assert.deepEqual(findStatusFaults(steps), []);
  const types = steps.flatMap(({ events }) => events.map(({ type }) => type));
  for (const type of [
    'turn.started',
    'turn.waiting',
    'session.paused',
    'session.resumed',
    'turn.ended',
    'session.completed',
  ] as const) {
    assert.ok(types.includes(type), type);
    const planted = steps.map((step) => ({
      ...step,
      events: step.events.filter((event) => event.type !== type),
    }));
    assert.notDeepEqual(findStatusFaults(planted), [], type);
  }
});
