import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { agent } from '../../agents/index.ts';
import { deriveScheduleSessionId, InvalidInputError } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import type { Model } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { tool } from '../../tools/index.ts';
import { MemoryStore } from '../../store/index.ts';
import type { Store } from '../../store/index.ts';
import {
  openRuntime,
  ScheduleExistsError,
  ScheduleNotFoundError,
  UnknownAgentError,
} from '../index.ts';
import type { Runtime, ScheduleDefinition, ScheduledRun } from '../index.ts';

const START = Date.parse('2026-11-23T08:00:30Z');
const HOURLY = { id: 'report', cron: '0 * * * *', message: 'Report' } satisfies ScheduleDefinition;

interface Fixture extends AsyncDisposable {
  readonly clock: SimulatedClock;
  readonly runtime: Runtime;
  /** Advances the time to `iso`, then timer by timer for at most 20 minutes, until the condition holds. */
  readonly runTo: (iso: string, condition: () => Promise<boolean>) => Promise<void>;
  /** Waits until the run of a due time, or another run, has a status. */
  readonly waitFor: (iso: string, run: string, status: ScheduledRun['status']) => Promise<void>;
}

async function openFixture(
  model: Model = new ScriptedModel(() => ({ text: 'Done.' })),
  {
    store = new MemoryStore(),
    clock = new SimulatedClock(START),
  }: { store?: Store; clock?: SimulatedClock } = {},
): Promise<Fixture> {
  const errors: unknown[] = [];
  const runtime = await openRuntime({
    agents: [agent({ name: 'writer', model, tools: [publish] })],
    store,
    clock,
    onError: (error) => errors.push(error),
  });
  const runTo: Fixture['runTo'] = async (iso, condition) => {
    clock.advance(Math.max(0, Date.parse(iso) - clock.now()));
    const limit = Date.parse(iso) + 20 * 60_000;
    while (!(await condition())) {
      assert.deepEqual(errors, []);
      const { nextAt } = clock;
      if (nextAt !== undefined && nextAt <= limit) clock.advance(Math.max(0, nextAt - clock.now()));
      await setImmediate();
    }
  };
  return {
    clock,
    runtime,
    runTo,
    waitFor: async (iso, run, status) =>
      runTo(iso, async () =>
        (await runtime.schedules.history('report')).some(
          (one) => one.id === run && one.status === status,
        ),
      ),
    [Symbol.asyncDispose]: async () => runtime.close(),
  };
}

/** A model that calls a tool that somebody must approve, so its turns last until `approve`. */
const asking = (): Model =>
  new ScriptedModel(({ contents }) =>
    contents.length === 1 ? { toolCalls: [{ name: 'publish' }] } : { text: 'Published.' },
  );

const publish = tool({
  name: 'publish',
  description: 'Publishes the report',
  needsApproval: true,
  execute: () => 'done',
});

async function approve({ runtime, runTo, clock }: Fixture, session: string): Promise<void> {
  const now = new Date(clock.now()).toISOString();
  const found = await runtime.session(session);
  await runTo(now, async () => (await found.pending()).length > 0);
  for (const { id } of await found.pending()) await found.approve(id).accepted;
}

async function listMessages(runtime: Runtime, id: string): Promise<readonly string[]> {
  const session = await runtime.find(id);
  const messages: string[] = [];
  for await (const event of session?.events(0, { follow: false }) ?? [])
    if (event.type === 'user.message') messages.push(event.messageId);
  return messages;
}

async function listStatuses(runtime: Runtime): Promise<readonly (readonly string[])[]> {
  const runs = await runtime.schedules.history('report');
  return runs.toReversed().map(({ id, kind, status }) => [id, kind, status]);
}

test('each due time of a cron pattern starts a session with the message, and the history has its end', async () => {
  await using on = await openFixture();
  const { runtime, waitFor } = on;
  const schedule = await runtime.schedules.create(HOURLY);
  assert.equal(schedule.status, 'active');
  assert.equal(schedule.agent, 'writer');
  assert.equal(schedule.nextDueAt, Date.parse('2026-11-23T09:00:00Z'));
  assert.deepEqual(await runtime.sessions(), []);

  await waitFor('2026-11-23T09:00:00Z', '2026-11-23T09:00:00.000Z', 'ended');
  await waitFor('2026-11-23T10:00:00Z', '2026-11-23T10:00:00.000Z', 'ended');
  const ids = (await runtime.sessions()).map(({ key }) => key.sessionId);
  assert.deepEqual(ids.toSorted(), ['report-20261123T090000Z', 'report-20261123T100000Z']);
  for (const id of ids) assert.equal((await listMessages(runtime, id)).length, 1);
  const [last] = await runtime.schedules.history('report', { limit: 1 });
  assert.equal(last?.reason, 'end_turn');
  assert.equal(last.sessionId, 'report-20261123T100000Z');
  assert.deepEqual((await runtime.schedules.get('report'))?.lastRun, last);
});

test('an interval sends its messages to one session', async () => {
  await using on = await openFixture();
  const { runtime, waitFor } = on;
  await runtime.schedules.create({
    id: 'report',
    everyMs: 3_600_000,
    message: 'Again',
    session: 'one',
  });
  const due = ['09', '10', '11'].map((hour) => `2026-11-23T${hour}:00:30.000Z`);
  for (const id of due) await waitFor(id, id, 'ended');
  assert.deepEqual(
    await listMessages(runtime, 'one'),
    due.map((id) => `schedule/report/${id}`),
  );
});

test('with the overlap "skip", a run that is due while another one runs is left out', async () => {
  await using on = await openFixture(asking());
  const { runtime, waitFor } = on;
  await runtime.schedules.create(HOURLY);
  await waitFor('2026-11-23T09:00:00Z', '2026-11-23T09:00:00.000Z', 'running');
  await waitFor('2026-11-23T10:00:00Z', '2026-11-23T10:00:00.000Z', 'skipped');
  await approve(on, 'report-20261123T090000Z');
  await waitFor('2026-11-23T10:00:00Z', '2026-11-23T09:00:00.000Z', 'ended');
  await waitFor('2026-11-23T11:00:00Z', '2026-11-23T11:00:00.000Z', 'running');
  assert.equal((await runtime.sessions()).length, 2);
});

test('with the overlap "queue", runs begin one after the other', async () => {
  await using on = await openFixture(asking());
  const { runtime, runTo, waitFor } = on;
  await runtime.schedules.create({ ...HOURLY, overlap: 'queue' });
  await waitFor('2026-11-23T09:00:00Z', '2026-11-23T09:00:00.000Z', 'running');
  for (const [hour, count] of [
    ['10', 1],
    ['11', 2],
  ] as const)
    await runTo(`2026-11-23T${hour}:00:00Z`, async () => {
      const schedule = await runtime.schedules.get('report');
      return schedule?.waiting === count;
    });
  assert.equal((await runtime.sessions()).length, 1);
  await approve(on, 'report-20261123T090000Z');
  await waitFor('2026-11-23T11:00:00Z', '2026-11-23T10:00:00.000Z', 'running');
  assert.equal((await runtime.schedules.get('report'))?.waiting, 1);
  await approve(on, 'report-20261123T100000Z');
  await waitFor('2026-11-23T11:00:00Z', '2026-11-23T11:00:00.000Z', 'running');
  assert.deepEqual(
    (await listStatuses(runtime)).map(([, , status]) => status),
    ['ended', 'ended', 'running'],
  );
});

test('with the overlap "replace", the turn of the run before is interrupted', async () => {
  await using on = await openFixture(asking());
  const { runtime, waitFor, runTo } = on;
  await runtime.schedules.create({ ...HOURLY, overlap: 'replace' });
  await waitFor('2026-11-23T09:00:00Z', '2026-11-23T09:00:00.000Z', 'running');
  await waitFor('2026-11-23T10:00:00Z', '2026-11-23T10:00:00.000Z', 'running');
  assert.deepEqual(await listStatuses(runtime), [
    ['2026-11-23T09:00:00.000Z', 'scheduled', 'replaced'],
    ['2026-11-23T10:00:00.000Z', 'scheduled', 'running'],
  ]);
  const replaced = await runtime.session('report-20261123T090000Z');
  await runTo('2026-11-23T10:00:00Z', async () => (await replaced.status()).activity === 'idle');
  const next = await runtime.session('report-20261123T100000Z');
  await runTo('2026-11-23T10:00:00Z', async () => (await next.status()).activity === 'waiting');
});

test('with the overlap "replace" in one session, a run is left out while the message before it waits', async () => {
  await using on = await openFixture(asking());
  const { runtime, waitFor, runTo } = on;
  const one = await runtime.session('one');
  await one.send('Hello').accepted;
  await runTo('2026-11-23T08:01:00Z', async () => (await one.pending()).length > 0);
  await runtime.schedules.create({ ...HOURLY, session: 'one', overlap: 'replace' });
  await waitFor('2026-11-23T09:00:00Z', '2026-11-23T09:00:00.000Z', 'running');
  await waitFor('2026-11-23T10:00:00Z', '2026-11-23T10:00:00.000Z', 'skipped');
  await approve(on, 'one');
  await waitFor('2026-11-23T10:00:00Z', '2026-11-23T09:00:00.000Z', 'ended');
  assert.equal((await listMessages(runtime, 'one')).length, 2);
});

const MISSED = ['2026-11-23T09:00:00.000Z', 'scheduled', 'missed'] as const;
const BACKFILLS = [
  [{}, [MISSED]],
  [{ backfill: 'last' }, [MISSED, ['2026-11-23T13:00:00.000Z', 'backfill', 'ended']]],
  [
    { backfill: 'all', maxBackfill: 2, overlap: 'queue' },
    [
      MISSED,
      ['2026-11-23T12:00:00.000Z', 'backfill', 'ended'],
      ['2026-11-23T13:00:00.000Z', 'backfill', 'ended'],
    ],
  ],
  [
    { backfill: 'all', overlap: 'queue' },
    ['09', '10', '11', '12', '13'].map((hour) => [
      `2026-11-23T${hour}:00:00.000Z`,
      'backfill',
      'ended',
    ]),
  ],
] as const satisfies readonly (readonly [
  Partial<ScheduleDefinition>,
  readonly (readonly string[])[],
])[];

for (const [options, expected] of BACKFILLS)
  test(`after a downtime of five due times, ${JSON.stringify(options)} makes up for the right ones`, async () => {
    const store = new MemoryStore();
    const clock = new SimulatedClock(START);
    {
      await using on = await openFixture(undefined, { store, clock });
      await on.runtime.schedules.create({ ...HOURLY, ...options });
    }
    clock.advance(Date.parse('2026-11-23T13:30:00Z') - clock.now());
    await using on = await openFixture(undefined, { store, clock });
    await on.runTo('2026-11-23T13:30:00Z', async () =>
      isDeepStrictEqual(await listStatuses(on.runtime), expected),
    );
    await on.waitFor('2026-11-23T14:00:00Z', '2026-11-23T14:00:00.000Z', 'ended');
    const runs = await listStatuses(on.runtime);
    assert.deepEqual(runs, [...expected, ['2026-11-23T14:00:00.000Z', 'scheduled', 'ended']]);
    const sessions = await on.runtime.sessions();
    assert.equal(sessions.length, runs.filter(([, , status]) => status === 'ended').length);
  });

test('a paused schedule has no runs, and continues with the next due time; one that is requested runs anyway, once', async () => {
  await using on = await openFixture();
  const { runtime, clock, waitFor } = on;
  await runtime.schedules.create(HOURLY);
  const paused = await runtime.schedules.pause('report');
  assert.deepEqual([paused.status, paused.nextDueAt], ['paused', null]);
  assert.equal((await runtime.schedules.pause('report')).status, 'paused');
  clock.advance(2.5 * 3_600_000);
  assert.equal(await runtime.schedules.run('report', { key: 'k' }), 'manual-k');
  await runtime.schedules.run('report', { key: 'k' });
  await waitFor('2026-11-23T10:35:00Z', 'manual-k', 'ended');
  const resumed = await runtime.schedules.resume('report');
  assert.equal(resumed.nextDueAt, Date.parse('2026-11-23T11:00:00Z'));
  await waitFor('2026-11-23T11:00:00Z', '2026-11-23T11:00:00.000Z', 'ended');
  assert.deepEqual(await listStatuses(runtime), [
    ['manual-k', 'manual', 'ended'],
    ['2026-11-23T11:00:00.000Z', 'scheduled', 'ended'],
  ]);
});

test('a run whose message was sent before the schedule was deleted and created again ends', async () => {
  await using on = await openFixture();
  const { runtime, waitFor } = on;
  for (const iso of ['2026-11-23T08:10:00Z', '2026-11-23T08:20:00Z']) {
    await runtime.schedules.create(HOURLY);
    await runtime.schedules.run('report', { key: 'k' });
    await waitFor(iso, 'manual-k', 'ended');
    await runtime.schedules.delete('report');
  }
  assert.equal((await listMessages(runtime, 'report-manual-k')).length, 1);
});

test('a run ends when its session is deleted and created again', async () => {
  await using on = await openFixture(asking());
  const { runtime, waitFor } = on;
  await runtime.schedules.create({ ...HOURLY, session: 'one' });
  await waitFor('2026-11-23T09:00:00Z', '2026-11-23T09:00:00.000Z', 'running');
  await runtime.delete('one');
  await runtime.session('one');
  await waitFor('2026-11-23T09:30:00Z', '2026-11-23T09:00:00.000Z', 'ended');
  await waitFor('2026-11-23T10:00:00Z', '2026-11-23T10:00:00.000Z', 'running');
});

test('the session and the agent of a schedule cannot be used as those of a caller', async () => {
  await using on = await openFixture();
  const { runtime } = on;
  await runtime.schedules.create(HOURLY);
  const id = deriveScheduleSessionId('report');
  const agentName = 'schedule:writer';
  assert.equal(await runtime.find(id), undefined);
  for (const use of [
    async () => runtime.session(id),
    async () => runtime.batch().session(id),
    async () => runtime.session('other', { agent: agentName }),
    async () => runtime.batch().session('other', { agent: agentName }),
    async () => runtime.schedules.create({ ...HOURLY, id: 'other', agent: agentName }),
  ])
    await assert.rejects(use, UnknownAgentError);
  assert.equal((await runtime.schedules.get('report'))?.status, 'active');
});

test('a schedule of an agent that refuses the message fails, and the history has the reason', async () => {
  await using on = await openFixture();
  const { runtime, waitFor } = on;
  const closed = await runtime.session('closed');
  await closed.archive();
  await runtime.schedules.create({ ...HOURLY, session: 'closed' });
  await waitFor('2026-11-23T09:00:00Z', '2026-11-23T09:00:00.000Z', 'failed');
  const [run] = await runtime.schedules.history('report');
  assert.match(run?.reason ?? '', /archived/);
});

test('a schedule is created once, and its id belongs to its user', async () => {
  await using on = await openFixture();
  const { schedules } = on.runtime;
  const [first, second] = await Promise.all([schedules.create(HOURLY), schedules.create(HOURLY)]);
  assert.deepEqual(second, first);
  await assert.rejects(
    schedules.create({ ...HOURLY, message: 'Other' }),
    (error) => error instanceof ScheduleExistsError && /another message/.test(error.message),
  );
  await schedules.create({ ...HOURLY, message: 'Other' }, { user: 'ana' });
  assert.equal((await schedules.get('report', { user: 'ana' }))?.message, 'Other');
  on.clock.advance(1);
  await schedules.create({ ...HOURLY, id: 'second' });
  assert.deepEqual(
    (await schedules.list()).map(({ id }) => id),
    ['report', 'second'],
  );
  assert.deepEqual(
    (await schedules.list({ after: 'report' })).map(({ id }) => id),
    ['second'],
  );
  assert.equal(await schedules.delete('report'), true);
  assert.equal(await schedules.delete('report'), false);
  assert.equal(await schedules.get('report'), undefined);
  for (const verb of ['pause', 'resume', 'run', 'history'] as const)
    await assert.rejects(schedules[verb]('report'), ScheduleNotFoundError);
  assert.equal((await schedules.list({ user: 'ana' })).length, 1);
});

test('a list goes on after a schedule that has no definition yet', async () => {
  const store = new MemoryStore();
  await using on = await openFixture(undefined, { store });
  const { schedules } = on.runtime;
  await store.join('another');
  await store.create(
    { appName: on.runtime.app, userId: 'default', sessionId: deriveScheduleSessionId('new') },
    { agent: 'schedule:writer', owner: 'another', at: START, netHash: 'none' },
  );
  on.clock.advance(1);
  await schedules.create(HOURLY);
  for (const limit of [1, 2])
    assert.deepEqual(
      (await schedules.list({ limit })).map(({ id }) => id),
      ['report'],
    );
});

const WRONG: readonly (readonly [object, field: string, shown: RegExp])[] = [
  [{ cron: '61 * * * *' }, 'cron', /"61 \* \* \* \*".*minute.*Correct the pattern/],
  [{ cron: 'soon' }, 'cron', /five fields.*"soon"/],
  [{ cron: '0 0 0 * * *' }, 'cron', /five fields/],
  [{ cron: '2026-12-24T10:00:00' }, 'cron', /five fields.*"2026-12-24T10:00:00"/],
  [{ cron: new Date(0) }, 'cron', /five fields/],
  [{ cron: `0 0 * * *${' '.repeat(300)}` }, 'cron', /more than 256 characters/],
  [{ cron: '0 0 30 2 *' }, 'cron', /never due.*Check day of month and month/],
  [{ timeZone: 'Mars/Olympus' }, 'timeZone', /IANA.*"Mars\/Olympus"/],
  [{ everyMs: 1000 }, 'cron', /both are set.*Pass one/],
  [{ cron: undefined }, 'cron', /both are missing.*Pass one/],
  [{ cron: undefined, everyMs: 10 }, 'everyMs', /from 1000 to \d+; it is 10/],
  [{ cron: undefined, everyMs: 5000, timeZone: 'UTC' }, 'timeZone', /only for cron/],
  [{ agent: 5 }, 'agent', /must be the name of an agent; it is 5/],
  [{ id: 'a b' }, 'id', /letters, digits, _ or -; it is "a b"/],
  [{ message: '' }, 'message', /it is ""/],
  [{ session: '..' }, 'session', /it is "\.\."/],
  [{ overlap: 'never' }, 'overlap', /skip, queue, replace; it is "never"/],
  [{ backfill: 'some' }, 'backfill', /none, last, all; it is "some"/],
  [{ maxBackfill: 3 }, 'maxBackfill', /only for the backfill "all"/],
  [{ backfill: 'all', maxBackfill: 51 }, 'maxBackfill', /from 1 to 50; it is 51/],
  [{ jitterMs: 3_600_000 }, 'jitterMs', /less than .* 3600000 ms; it is 3600000/],
];

test('a wrong definition is refused with its field, its value and the next step', async () => {
  await using on = await openFixture();
  const { schedules } = on.runtime;
  for (const [change, field, shown] of WRONG)
    await assert.rejects(schedules.create({ ...HOURLY, ...change }), (error) => {
      assert.ok(error instanceof InvalidInputError, String(error));
      assert.equal(error.field, field, error.message);
      assert.match(error.message, shown);
      return true;
    });
  await assert.rejects(schedules.create({ ...HOURLY, agent: 'nobody' }), /Unknown agent "nobody"/);
  // @ts-expect-error -- no object
  await assert.rejects(schedules.create(null), InvalidInputError);
  // @ts-expect-error -- an unknown option
  await assert.rejects(schedules.create({ ...HOURLY, timezone: 'UTC' }), /timeZone/);
  assert.deepEqual(await schedules.list(), []);
  await assert.rejects(on.runtime.session('petrichor:schedules'), /reserved for schedules/);
});
