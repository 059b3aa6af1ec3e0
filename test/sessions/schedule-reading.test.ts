import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import { deriveScheduleSessionId } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { applyRetention, openRuntime } from '../../src/runtime/index.ts';
import type { Runtime } from '../../src/runtime/index.ts';
import { readStoredSchedule } from '../../src/runtime/schedules/read-stored-schedule.ts';
import { definitionIn, stateIn } from '../../src/runtime/schedules/schedule-places.ts';
import type { ScheduleState } from '../../src/runtime/schedules/schedule-places.ts';
import { MemoryStore } from '../../src/store/index.ts';
import type { SessionRow, Store } from '../../src/store/index.ts';

const START = 1_700_000_000_000;
const DAY = 86_400_000;
/** The last time that a date can be. */
const LAST_TIME = 8.64e15;
const KEY = {
  appName: 'petrichor',
  userId: 'default',
  sessionId: deriveScheduleSessionId('weekly'),
};

async function open(store: Store, clock: SimulatedClock): Promise<Runtime> {
  const model = new ScriptedModel(() => ({ text: 'Done.' }));
  return openRuntime({ agents: [agent({ name: 'writer', model })], store, clock });
}

/** A store in which something happens before an inbox is read. */
class RacingStore extends MemoryStore {
  beforeInbox = async (): Promise<void> => {};

  override async inbox(...query: Parameters<Store['inbox']>): ReturnType<Store['inbox']> {
    await this.beforeInbox();
    return super.inbox(...query);
  }
}

const definition = {
  id: 'weekly',
  cron: '@yearly',
  timeZone: 'UTC',
  agent: 'writer',
  message: 'Hello',
  session: 'target',
  overlap: 'skip',
  jitterMs: 0,
  backfill: 'none',
  maxBackfill: 0,
} as const;

const paused: ScheduleState = {
  definition: { ...definition, anchor: START },
  isPaused: true,
  from: null,
  ready: null,
  active: null,
  waiting: [],
  history: [{ id: 'one', kind: 'manual', dueAt: START, status: 'skipped' }],
};

/** Creates a schedule whose net has taken nothing yet: no process that runs it is there. */
async function createUntaken(store: Store, place: string): Promise<SessionRow> {
  const owner = 'gone';
  await store.join(owner);
  await store.submit({
    sessions: [
      { key: KEY, init: { agent: 'schedule:writer', owner, at: START, netHash: 'earlier' } },
    ],
    inputs: [
      {
        key: KEY,
        input: {
          place,
          value: (place === stateIn.name ? paused : definition) as never,
        },
        dedupeKey: 'first',
      },
    ],
  });
  await store.leave(owner);
  return (await store.find(KEY)) ?? assert.fail();
}

test('a session is kept for a schedule that no process has run yet', async () => {
  for (const place of [definitionIn.name, stateIn.name]) {
    const [store, clock] = [new MemoryStore(), new SimulatedClock(START)];
    {
      await using runtime = await open(store, clock);
      await (await runtime.session('target', { agent: 'writer' })).ask('Hello');
    }
    await createUntaken(store, place);
    clock.advance(2 * DAY);
    const policy = { rules: [{ deleteAfterDays: 1 }] };
    const outcomes: string[] = [];
    for await (const { obstacle, outcome } of applyRetention(store, policy, { clock }))
      outcomes.push(obstacle ?? outcome);
    assert.deepEqual(outcomes, ['schedule'], place);
  }
});

test('a schedule is read from its inbox before its net has taken its state', async () => {
  const store = new MemoryStore();
  const row = await createUntaken(store, stateIn.name);
  const reading = await readStoredSchedule(store, row);
  assert.deepEqual(reading?.state, paused);
  await using runtime = await openRuntime({
    // Without its agent, the schedule does not run here.
    agents: [agent({ name: 'other', model: new ScriptedModel(() => ({ text: 'Done.' })) })],
    store,
    clock: new SimulatedClock(START),
    onError: () => {},
  });
  const [listed] = await runtime.schedules.list();
  assert.deepEqual([listed?.status, listed?.lastRun?.id], ['paused', 'one']);
});

test('a reader sees a schedule whose net takes its state between two reads', async () => {
  const store = new RacingStore();
  const row = await createUntaken(store, stateIn.name);
  const runtimes: Runtime[] = [];
  store.beforeInbox = async () => {
    store.beforeInbox = async () => {};
    const clock = new SimulatedClock(START);
    runtimes.push(await open(store, clock));
    while ((await store.find(KEY))?.inboxPending !== false) {
      clock.advance(1000);
      await setImmediate();
    }
  };
  const reading = await readStoredSchedule(store, row);
  assert.deepEqual(reading?.state, paused);
  assert.equal(runtimes.length, 1);
  for (const runtime of runtimes) await runtime.close();
});

test('a schedule whose net has failed is listed as failed', async () => {
  const clock = new SimulatedClock(LAST_TIME - 90_000);
  await using runtime = await open(new MemoryStore(), clock);
  const { schedules } = runtime;
  await schedules.create({ id: 'tick', everyMs: 60_000, message: 'Tick' });
  // No date follows the second due time.
  for (;;) {
    const schedule = (await schedules.get('tick')) ?? assert.fail('the schedule is gone');
    if (schedule.status === 'failed') break;
    const { nextAt } = clock;
    if (nextAt !== undefined) clock.advance(Math.max(0, nextAt - clock.now()));
    await setImmediate();
  }
  assert.deepEqual(
    (await schedules.list()).map(({ id }) => id),
    ['tick'],
  );
});
