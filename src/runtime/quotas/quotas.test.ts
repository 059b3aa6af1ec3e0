import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, agentTool, parallel } from '../../agents/index.ts';
import { InvalidInputError, QuotaExceededError, UnknownFieldError } from '../../core/index.ts';
import type { LogEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import type { ScriptedTurn } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { openStore } from '../../store/index.ts';
import { InMemoryArtifactService, tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Session } from '../session/session.ts';
import { sumCost } from './model-cost.ts';
import type { Quotas } from './quotas.ts';

const usage = { inputTokens: 80, outputTokens: 20, totalTokens: 100 };
const NOON = Date.UTC(2026, 0, 31, 12);

const answering = (name: string, ...turns: readonly ScriptedTurn[]): ScriptedModel =>
  Object.assign(
    turns.length > 0
      ? new ScriptedModel(turns)
      : new ScriptedModel(() => ({ text: 'Yes.', usage })),
    { name },
  );

async function say(session: Session, text = 'Hi'): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = [];
  for await (const event of session.send(text)) if ('seq' in event) events.push(event);
  return events;
}

/** Resumes a session, and reads the events of the turn that it continues. */
async function resume(session: Session): Promise<readonly LogEvent[]> {
  const { lastSeq } = await session.status();
  await session.resume();
  const events: LogEvent[] = [];
  for await (const event of session.events(lastSeq)) {
    if ('seq' in event) events.push(event);
    if (event.type === 'turn.ended') break;
  }
  return events;
}

function ending(events: readonly LogEvent[]): readonly (string | undefined)[] {
  const ended = events.find(({ type }) => type === 'turn.ended');
  const error = events.find(({ type }) => type === 'error');
  return [
    ended?.type === 'turn.ended' ? ended.stopReason : undefined,
    error?.type === 'error' ? error.code : undefined,
  ];
}

const open = async (quotas: Quotas, clock = new SimulatedClock(NOON), model = answering('small')) =>
  openRuntime({ agents: [agent({ name: 'one', model })], clock, quotas });

test('a user whose tokens of the day are used up gets budget_reached, and others go on', async () => {
  await using runtime = await open({ user: { tokensPerDay: 150 } });
  const session = await runtime.session('a', { user: 'ada' });
  assert.deepEqual(ending(await say(session)), ['end_turn', undefined]);
  // 100 of 150: a call may exceed the limit, because its tokens are not known before.
  assert.deepEqual(ending(await say(session)), ['end_turn', undefined]);
  const stopped = await say(session);
  assert.deepEqual(ending(stopped), ['budget_reached', 'quota_exceeded']);
  const error = stopped.find(({ type }) => type === 'error');
  assert.equal(
    error?.type === 'error' ? error.message : '',
    'The quota is used up: 200 of 150 tokens per day. It renews at 2026-02-01T00:00:00.000Z. Wait until then, or ask the operator to raise it.',
  );
  assert.deepEqual(ending(await say(await runtime.session('b', { user: 'bob' }))), [
    'end_turn',
    undefined,
  ]);
  assert.deepEqual(await runtime.quotas({ user: 'ada' }), [
    {
      quota: 'tokensPerDay',
      scope: 'user',
      limit: 150,
      used: 200,
      user: 'ada',
      renewsAt: Date.UTC(2026, 1, 1),
    },
  ]);
});

test('a resume continues the stopped turn in the next period, without running its tools again', async () => {
  const clock = new SimulatedClock(NOON);
  const runs: string[] = [];
  const look = tool({
    name: 'look',
    description: 'Looks.',
    parameters: { type: 'object', properties: {} },
    execute: () => {
      runs.push('look');
      return { seen: true };
    },
  });
  const model = answering(
    'small',
    { toolCalls: [{ name: 'look' }], usage },
    { text: 'Done.', usage },
  );
  await using runtime = await openRuntime({
    agents: [agent({ name: 'one', model, tools: [look] })],
    clock,
    quotas: { user: { tokensPerDay: 100 } },
  });
  const session = await runtime.session('a');
  assert.deepEqual(ending(await say(session)), ['budget_reached', 'quota_exceeded']);
  assert.deepEqual(runs, ['look']);
  assert.equal((await session.status()).status, 'failed');
  clock.advance(12 * 3_600_000);
  assert.deepEqual(ending(await resume(session)), ['end_turn', undefined]);
  assert.deepEqual(runs, ['look']);
});

test('a raised quota holds from the next runtime on, and a new message begins a new turn', async () => {
  await using store = { memory: await openStore('memory:'), [Symbol.asyncDispose]: async () => {} };
  const agents = [agent({ name: 'one', model: answering('small') })];
  const options = { agents, store: store.memory, clock: new SimulatedClock(NOON) };
  {
    await using runtime = await openRuntime({ ...options, quotas: { user: { tokensPerDay: 0 } } });
    const events = await say(await runtime.session('a'));
    assert.deepEqual(ending(events), ['budget_reached', 'quota_exceeded']);
  }
  await using runtime = await openRuntime({ ...options, quotas: { user: { tokensPerDay: 100 } } });
  assert.deepEqual(ending(await say(await runtime.session('a'))), ['end_turn', undefined]);
});

test('the limits of the app count all users, and those of one user replace those of every user', async () => {
  await using runtime = await open({
    app: { tokensPerMonth: 300 },
    user: { tokensPerDay: 100, sessions: 5 },
    users: { ada: { tokensPerDay: 200 }, bob: { tokensPerDay: null } },
  });
  const ada = await runtime.session('a', { user: 'ada' });
  const bob = await runtime.session('b', { user: 'bob' });
  for (const session of [ada, bob, ada])
    assert.deepEqual(ending(await say(session))[0], 'end_turn');
  const [error] = (await say(bob)).filter(({ type }) => type === 'error');
  assert.match(
    error?.type === 'error' ? error.message : '',
    /^The quota of all users together is used up: tokens per month\. It renews at 2026-02-01T/,
  );
  const report = await runtime.quotas();
  assert.deepEqual(
    report.map(({ quota, user, used, limit }) => [user, quota, used, limit]),
    [
      [undefined, 'tokensPerMonth', 300, 300],
      ['ada', 'tokensPerDay', 200, 200],
      ['ada', 'sessions', 1, 5],
      ['bob', 'sessions', 1, 5],
    ],
  );
});

test('a quota in USD counts each model at its price, with the cache apart', async () => {
  const cached = { ...usage, cacheReadTokens: 40, cacheWriteTokens: 10 };
  const model = answering('small', { text: 'A', usage: cached }, { text: 'B', usage: cached });
  await using runtime = await open(
    {
      user: { usdPerDay: 1 },
      usdPerMillionTokens: {
        small: { input: 10_000, output: 5000, cacheRead: 1000, cacheWrite: 20_000 },
      },
    },
    new SimulatedClock(NOON),
    model,
  );
  const session = await runtime.session('a');
  await say(session);
  // 30 uncached, 40 read, 10 written, 20 output.
  const [status] = await runtime.quotas({ user: 'default' });
  assert.equal(status?.used, (30 * 10_000 + 40 * 1000 + 10 * 20_000 + 20 * 5000) / 1_000_000);
  await say(session);
  assert.deepEqual(ending(await say(session)), ['budget_reached', 'quota_exceeded']);
});

test('a model without a price is not called where a quota in USD applies', async () => {
  await using runtime = await open({
    users: { ada: { usdPerDay: 1 } },
    usdPerMillionTokens: { large: { input: 1, output: 1 } },
  });
  const refused = await say(await runtime.session('a', { user: 'ada' }));
  assert.deepEqual(ending(refused), ['budget_reached', 'model_price_missing']);
  const other = await say(await runtime.session('b', { user: 'bob' }));
  assert.deepEqual(ending(other), ['end_turn', undefined]);
});

test('an answer whose model is not known has the highest price, not that of every other model', () => {
  const prices = { large: { input: 15, output: 75 }, '*': { input: 1, output: 2 } };
  const tokens = { inputTokens: 1_000_000, outputTokens: 0, totalTokens: 1_000_000 };
  const cost = (model: string): number => sumCost([{ model, tokens }], prices);
  assert.deepEqual([cost(''), cost('other'), cost('large')], [15, 1, 15]);
});

test('a session above the quota is not created, until one is archived or deleted', async () => {
  await using runtime = await open({ user: { sessions: 2 } });
  const first = await runtime.session('a');
  await runtime.session('b');
  await runtime.session('other', { user: 'bob' });
  const refusal = {
    code: 'quota_exceeded',
    status: { quota: 'sessions', scope: 'user', limit: 2, used: 2, user: 'default' },
  };
  await assert.rejects(runtime.session('c'), refusal);
  await assert.rejects(first.fork({ id: 'c' }), refusal);
  await assert.rejects(runtime.batch().session('c'), refusal);
  assert.equal(await runtime.find('c'), undefined);
  // A session that exists is opened.
  await runtime.session('b');
  await first.archive();
  await runtime.session('c');
  await assert.rejects(runtime.session('d'), QuotaExceededError);
  await runtime.delete('b');
  await runtime.session('d');
});

test('the sessions that one batch creates need room together', async () => {
  await using runtime = await open({ user: { sessions: 2 }, app: { sessions: 3 } });
  const batch = runtime.batch();
  await batch.session('a');
  await batch.session('b');
  // The same session again needs no more room.
  await batch.session('b');
  await assert.rejects(batch.session('c'), /: 2 of 2 open sessions/);
  await batch.session('a', { user: 'bob' });
  await assert.rejects(batch.session('b', { user: 'bob' }), /of all users together/);
});

test('the session of a called agent needs no room, and its tokens count for its user', async () => {
  const clerk = agent({ name: 'clerk', model: answering('small') });
  const boss = agent({
    name: 'boss',
    tools: [agentTool(clerk)],
    model: answering(
      'large',
      { toolCalls: [{ name: 'clerk', args: { request: 'Go' } }], usage },
      { text: 'Done.', usage },
    ),
  });
  await using runtime = await openRuntime({
    agents: [boss],
    clock: new SimulatedClock(NOON),
    quotas: { user: { sessions: 1, tokensPerDay: 200 } },
  });
  const events = await say(await runtime.session('a'));
  // The third call would be that of the boss.
  assert.deepEqual(ending(events), ['budget_reached', 'quota_exceeded']);
  const [tokens, sessions] = await runtime.quotas({ user: 'default' });
  assert.deepEqual([tokens?.used, sessions?.used], [200, 1]);
});

test('a turn of several agents ends with budget_reached, and a resume continues it', async () => {
  const clock = new SimulatedClock(NOON);
  const team = parallel({
    name: 'team',
    subAgents: ['left', 'right'].map((name) => agent({ name, model: answering('small') })),
  });
  await using runtime = await openRuntime({
    agents: [team],
    clock,
    quotas: { user: { tokensPerDay: 50 } },
  });
  const session = await runtime.session('a');
  assert.deepEqual(ending(await say(session)), ['end_turn', undefined]);
  assert.deepEqual(ending(await say(session)), ['budget_reached', 'quota_exceeded']);
  assert.equal((await session.status()).status, 'failed');
  clock.advance(12 * 3_600_000);
  assert.deepEqual(ending(await resume(session)), ['end_turn', undefined]);
});

test('a schedule above the quota is refused, and a run whose session is above it is recorded', async () => {
  const clock = new SimulatedClock(NOON);
  await using runtime = await open({ user: { schedules: 1, sessions: 1 } }, clock);
  await runtime.session('a');
  const definition = { id: 'daily', everyMs: 60_000, message: 'Go' };
  await runtime.schedules.create(definition);
  await assert.rejects(runtime.schedules.create({ ...definition, id: 'more' }), {
    code: 'quota_exceeded',
    message:
      'The quota is used up: 1 of 1 schedules. Delete schedules, or ask the operator to raise it.',
  });
  // The same definition again changes nothing.
  await runtime.schedules.create(definition);
  await runtime.schedules.run('daily', { key: 'now' });
  for (;;) {
    const [run] = await runtime.schedules.history('daily');
    if (run?.status !== undefined) {
      assert.match(JSON.stringify(run), /The quota is used up: 1 of 1 open sessions/);
      break;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
});

test('invalid quotas are refused with the path of the field', async () => {
  const refuse = async (quotas: object, error: object): Promise<void> =>
    assert.rejects(open(quotas), error);
  await refuse(
    { user: { tokensPerDay: -1 } },
    { code: 'invalid_input', field: 'quotas.user.tokensPerDay' },
  );
  await refuse({ user: { tokensPerDay: 0.5 } }, InvalidInputError);
  await refuse({ user: { tokens: 1 } }, UnknownFieldError);
  await refuse({ team: {} }, UnknownFieldError);
  await refuse({ users: { ada: { usdPerDay: 5 } } }, { field: 'quotas.usdPerMillionTokens' });
  await refuse(
    { usdPerMillionTokens: { a: { input: 1 } } },
    { field: 'quotas.usdPerMillionTokens.a.output' },
  );
});

test('a report of all users reads their usage once, however many they are', async () => {
  const clock = new SimulatedClock(NOON);
  const store = await openStore('memory:');
  await using runtime = await openRuntime({
    agents: [agent({ name: 'one', model: answering('small') })],
    store,
    clock,
    quotas: { user: { tokensPerMonth: 1000, tokensPerDay: 500 } },
  });
  const names = ['ada', 'bob', 'eve'];
  for (const user of names) await say(await runtime.session('a', { user }));
  clock.advance(-24 * 3_600_000);
  await say(await runtime.session('b', { user: 'eve' }));
  clock.advance(24 * 3_600_000);
  const expected = (await Promise.all(names.map(async (user) => runtime.quotas({ user })))).flat();
  assert.deepEqual(
    expected.map(({ used }) => used),
    [100, 100, 100, 100, 100, 200],
  );
  let reads = 0;
  const read = store.usage.bind(store);
  store.usage = async (query) => {
    reads++;
    return read(query);
  };
  assert.deepEqual(await runtime.quotas(), expected);
  assert.equal(reads, 1);
  assert.deepEqual(await runtime.quotas({ scope: 'app' }), []);
  await assert.rejects(runtime.quotas({ scope: 'app', user: 'ada' }), InvalidInputError);
});

test('a report of all users has those with sessions, schedules or artifacts and no tokens', async () => {
  const artifacts = new InMemoryArtifactService();
  await using runtime = await openRuntime({
    agents: [agent({ name: 'one', model: answering('small') })],
    artifacts,
    quotas: { user: { tokensPerDay: 500, sessions: 5, schedules: 2, storageBytes: 1e6 } },
  });
  await runtime.session('a', { user: 'ada' });
  await runtime.schedules.create({ id: 's', everyMs: 60_000, message: 'Go' }, { user: 'bob' });
  // Artifacts outlive their session.
  const session = { appName: runtime.app, userId: 'eve', sessionId: 'a' };
  await runtime.session('a', { user: 'eve' });
  await runtime.artifacts?.save(
    { session, name: 'notes' },
    { text: 'x'.repeat(600) },
    { saveId: 'one' },
  );
  await runtime.delete('a', { user: 'eve' });
  // A user that has nothing any more is not listed.
  await runtime.session('a', { user: 'zoe' });
  await runtime.delete('a', { user: 'zoe' });
  const report = await runtime.quotas();
  const used = report.flatMap((status) =>
    status.used > 0 && status.quota !== 'storageBytes'
      ? [[status.user, status.quota, status.used]]
      : [],
  );
  assert.deepEqual(used, [
    ['ada', 'sessions', 1],
    ['bob', 'schedules', 1],
  ]);
  assert.deepEqual([...new Set(report.map(({ user }) => user))], ['ada', 'bob', 'eve']);
  const stored = report.find(({ user, quota }) => user === 'eve' && quota === 'storageBytes');
  assert.equal(stored?.used, 600);
});

test('the budget of all users reads earlier days once a minute, and today before each call', async () => {
  const clock = new SimulatedClock(Date.UTC(2026, 0, 14, 12));
  const store = await openStore('memory:');
  const from: (string | undefined)[] = [];
  const read = store.usage.bind(store);
  store.usage = async (query) => {
    from.push(query.from);
    return read(query);
  };
  await using runtime = await openRuntime({
    agents: [agent({ name: 'one', model: answering('small') })],
    store,
    clock,
    quotas: { app: { tokensPerMonth: 400, tokensPerDay: 300 } },
  });
  const session = await runtime.session('a');
  await say(session);
  clock.advance(24 * 3_600_000);
  await say(session);
  await say(session);
  clock.advance(60_000);
  await say(session);
  const [start, today] = ['2026-01-01', '2026-01-15'];
  assert.deepEqual(from, [start, start, today, start]);
  // One of yesterday and three of today.
  const stopped = await say(session);
  assert.deepEqual(ending(stopped), ['budget_reached', 'quota_exceeded']);
  const used = (await runtime.quotas()).map(({ quota, used: amount }) => [quota, amount]);
  assert.deepEqual(used, [
    ['tokensPerDay', 300],
    ['tokensPerMonth', 400],
  ]);
});

test('a turn that would exceed the storage ends with budget_reached, and goes on when there is room', async () => {
  const clock = new SimulatedClock(NOON);
  const store = await openStore('memory:');
  const agents = [agent({ name: 'one', model: answering('small') })];
  await using runtime = await openRuntime({
    agents,
    clock,
    store,
    quotas: { user: { storageBytes: 8000 }, app: { storageBytes: 1_000_000 } },
  });
  const first = await runtime.session('a', { user: 'ada' });
  assert.deepEqual(ending(await say(first, 'x'.repeat(9000))), ['end_turn', undefined]);
  // A measurement that showed room is used for ten seconds.
  clock.advance(10_000);
  const stopped = await say(first);
  assert.deepEqual(ending(stopped), ['budget_reached', 'quota_exceeded']);
  const error = stopped.find(({ type }) => type === 'error');
  assert.match(
    error?.type === 'error' ? error.message : '',
    /^The quota is used up: [\d,]+ of 8,000 bytes of storage\. Delete sessions or artifacts, or ask/,
  );
  const isExceeded = (thrown: unknown): boolean =>
    thrown instanceof QuotaExceededError && thrown.status.quota === 'storageBytes';
  await assert.rejects(runtime.session('b', { user: 'ada' }), isExceeded);
  await assert.rejects(
    runtime.schedules.create({ id: 's', message: 'Hi', everyMs: 60_000 }, { user: 'ada' }),
    isExceeded,
  );
  const other = await runtime.session('c', { user: 'bob' });
  assert.deepEqual(ending(await say(other)), ['end_turn', undefined]);
  const used = (await runtime.quotas({ user: 'ada' })).map(({ used: bytes }) => bytes);
  assert.deepEqual(used, [await store.countBytes({ appName: runtime.app, userId: 'ada' })]);
  // Nobody waits for a measurement after a deletion.
  await runtime.delete('a', { user: 'ada' });
  const again = await runtime.session('d', { user: 'ada' });
  assert.deepEqual(ending(await say(again)), ['end_turn', undefined]);
});

test('an artifact that would exceed the storage is not saved, and artifacts count', async () => {
  const clock = new SimulatedClock(NOON);
  const artifacts = new InMemoryArtifactService({ clock });
  const model = answering(
    'small',
    { toolCalls: [{ name: 'save', args: { bytes: 600 } }] },
    { text: 'Saved.' },
    { toolCalls: [{ name: 'save', args: { bytes: 500_000 } }] },
    { text: 'Not saved.' },
  );
  const save = tool({
    name: 'save',
    description: 'Saves.',
    parameters: { type: 'object', properties: { bytes: { type: 'number' } } },
    execute: async (args: unknown, context) => {
      const { bytes } = args as { readonly bytes: number };
      return context.artifacts.save('notes.txt', { text: 'x'.repeat(bytes) });
    },
  });
  await using runtime = await openRuntime({
    agents: [agent({ name: 'one', model, tools: [save] })],
    clock,
    artifacts,
    quotas: { user: { storageBytes: 100_000 } },
  });
  const session = await runtime.session('a', { user: 'ada' });
  const results = async (): Promise<unknown[]> =>
    (await say(session)).flatMap((event) =>
      event.type === 'tool.result' ? [[event.outcome, JSON.stringify(event.response)]] : [],
    );
  assert.deepEqual(
    (await results()).map((one) => (one as string[])[0]),
    ['ok'],
  );
  const [[outcome, response] = []] = (await results()) as string[][];
  assert.equal(outcome, 'error');
  assert.match(response ?? '', /quota_exceeded.*bytes of storage/);
  assert.equal(await artifacts.countBytes({ appName: runtime.app, userId: 'ada' }), 600);
  const [status] = await runtime.quotas({ user: 'ada' });
  const stored = await runtime.store.countBytes({ appName: runtime.app, userId: 'ada' });
  assert.equal(status?.used, stored + 600);
});

test('a deleted artifact makes room for the next one at once', async () => {
  const artifacts = new InMemoryArtifactService();
  await using runtime = await openRuntime({
    agents: [agent({ name: 'one', model: answering('small') })],
    artifacts,
    quotas: { user: { storageBytes: 1000 } },
  });
  const session = { appName: runtime.app, userId: 'ada', sessionId: 'a' };
  const part = { text: 'x'.repeat(600) };
  const { artifacts: limited } = runtime;
  await limited?.save({ session, name: 'first' }, part, { saveId: 'one' });
  await assert.rejects(
    async () => limited?.save({ session, name: 'second' }, part, { saveId: 'two' }),
    {
      code: 'quota_exceeded',
    },
  );
  await limited?.delete({ session, name: 'first' });
  assert.equal(await limited?.save({ session, name: 'second' }, part, { saveId: 'two' }), 0);
});

test('the storage of a user and of the app is measured once in ten seconds, while there is room', async () => {
  const clock = new SimulatedClock(NOON);
  const store = await openStore('memory:');
  const measured: (string | undefined)[] = [];
  const countBytes = store.countBytes.bind(store);
  store.countBytes = async (filter) => {
    measured.push(filter.userId);
    return countBytes(filter);
  };
  await using runtime = await openRuntime({
    agents: [agent({ name: 'one', model: answering('small') })],
    clock,
    store,
    quotas: { user: { storageBytes: 1e9 }, app: { storageBytes: 1e9 } },
  });
  const session = await runtime.session('a', { user: 'ada' });
  for (let turn = 0; turn < 5; turn++) await say(session);
  assert.deepEqual(measured, ['ada', undefined]);
  clock.advance(10_000);
  await say(session);
  assert.deepEqual(measured, ['ada', undefined, 'ada', undefined]);
});
