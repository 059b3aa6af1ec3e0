import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimulatedClock } from '../../src/net/index.ts';
import { applyRetention, openRuntime } from '../../src/runtime/index.ts';
import type { RetentionOptions, RetentionPolicy, Runtime } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { agent, agentTool, tool } from '../../src/index.ts';
import { z } from 'zod';
import { noteAgent } from '../copies/loaded-store.ts';

const DAY = 86_400_000;
const START = 1_700_000_000_000;

/** A runtime with the agents `noter` and `lead`, which calls `helper`. */
async function open(
  store: Store = new MemoryStore(),
): Promise<{ readonly clock: SimulatedClock; readonly runtime: Runtime; readonly store: Store }> {
  const clock = new SimulatedClock(START);
  const helper = agent({
    name: 'helper',
    model: new ScriptedModel(() => ({ text: 'Helped.' })),
    description: 'Helps',
  });
  const lead = agent({
    name: 'lead',
    model: new ScriptedModel(({ contents }) =>
      contents.at(-1)?.role === 'user'
        ? { toolCalls: [{ name: 'helper', args: { request: 'help' } }] }
        : { text: 'Done.' },
    ),
    tools: [agentTool(helper)],
  });
  const runtime = await openRuntime({ agents: [noteAgent([]), lead], store, clock });
  return { clock, runtime, store };
}

async function apply(
  { store, clock }: { readonly store: Store; readonly clock: SimulatedClock },
  rules: RetentionPolicy['rules'],
  options: RetentionOptions = {},
): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for await (const result of applyRetention(store, { rules }, { clock, ...options })) {
    const { key, outcome, obstacle, error } = result;
    assert.equal(error, undefined);
    found[key.sessionId] = obstacle ?? outcome;
  }
  return found;
}

async function listIds(store: Store): Promise<readonly string[]> {
  const rows = await store.list({ parent: null });
  return rows.map(({ key }) => key.sessionId).toSorted();
}

test('a session is deleted when its last record is old enough and its state allows it', async () => {
  const on = await open();
  await using runtime = on.runtime;
  const { clock, store } = on;
  await (await runtime.session('old', { agent: 'noter' })).ask('one');
  await (await runtime.session('called', { agent: 'lead' })).ask('one');
  const waiting = await runtime.session('waiting', { agent: 'noter' });
  for await (const _ of waiting.send('ask'));
  await (await runtime.session('scheduled', { agent: 'noter' })).ask('one');
  await runtime.schedules.create({
    id: 'weekly',
    cron: '@yearly',
    agent: 'noter',
    message: 'Hello',
    session: 'scheduled',
  });
  await runtime.session('queued', { agent: 'noter' });
  const paused = await runtime.session('paused', { agent: 'noter' });
  await paused.ask('one');
  await paused.pause();
  clock.advance(20 * DAY);
  await (await runtime.session('young', { agent: 'noter' })).ask('one');
  const touched = await runtime.session('touched', { agent: 'noter' });
  await touched.ask('one');
  clock.advance(9.5 * DAY);
  const rules = [{ deleteAfterDays: 10 }];

  const kept = {
    waiting: 'status',
    scheduled: 'schedule',
    queued: 'status',
    paused: 'status',
  };
  assert.deepEqual(await apply(on, rules, { dryRun: true }), {
    old: 'planned',
    called: 'planned',
    ...kept,
  });
  const before = await listIds(store);
  assert.equal(before.length, 8);
  assert.equal((await store.list({ agent: 'helper' })).length, 1);
  assert.deepEqual(await apply(on, rules), { old: 'deleted', called: 'deleted', ...kept });
  assert.deepEqual(await listIds(store), [
    'paused',
    'queued',
    'scheduled',
    'touched',
    'waiting',
    'young',
  ]);
  // The sessions of called agents are deleted with the session that called them.
  assert.deepEqual(await store.list({ agent: 'helper' }), []);
  assert.deepEqual(await apply(on, rules), kept);

  // A policy can name other statuses.
  const all = [{ deleteAfterDays: 10, statuses: ['queued', 'paused', 'waiting', 'idle'] as const }];
  assert.deepEqual(await apply(on, all), {
    waiting: 'deleted',
    queued: 'deleted',
    paused: 'deleted',
    scheduled: 'schedule',
  });
  await runtime.schedules.delete('weekly');
  assert.deepEqual(await apply(on, all), { scheduled: 'deleted' });
  clock.advance(DAY);
  assert.deepEqual(await apply(on, [{ agent: 'lead' }, ...rules]), {
    young: 'deleted',
    touched: 'deleted',
  });
  assert.deepEqual(await listIds(store), []);
});

test('only the sessions of the rule are deleted', async () => {
  const on = await open();
  await using runtime = on.runtime;
  for (const user of ['ada', 'bob'])
    for (const name of ['noter', 'lead'])
      await (await runtime.session(`${user}-${name}`, { user, agent: name })).ask('one');
  on.clock.advance(3 * DAY);
  assert.deepEqual(
    await apply(on, [{ user: 'ada', agent: 'noter', deleteAfterDays: 1 }], { app: 'other' }),
    {},
  );
  assert.deepEqual(await apply(on, [{ app: 'other', deleteAfterDays: 1 }]), {});
  assert.deepEqual(await apply(on, [{ user: 'ada', agent: 'noter', deleteAfterDays: 1 }]), {
    'ada-noter': 'deleted',
  });
  assert.deepEqual(
    await apply(on, [
      { agent: 'noter' },
      { agent: 'lead', deleteAfterDays: 4 },
      { deleteAfterDays: 1 },
    ]),
    {},
  );
  assert.equal((await listIds(on.store)).length, 3);
});

test('more sessions than a page are deleted, also by several processes at once', async () => {
  const on = await open();
  await using runtime = on.runtime;
  const { store, clock } = on;
  await store.join('maker');
  for (let index = 0; index < 230; index++) {
    const key = { appName: runtime.app, userId: 'ada', sessionId: `s${index}` };
    await store.create(key, { agent: 'noter', owner: 'maker', at: START, netHash: 'n' });
  }
  clock.advance(2 * DAY);
  const rules = [{ deleteAfterDays: 1, statuses: ['queued' as const] }];
  const passes = await Promise.all([1, 2, 3].map(async () => apply(on, rules)));
  const outcomes = passes.flatMap((pass) => Object.values(pass));
  assert.equal(outcomes.filter((outcome) => outcome === 'deleted').length, 230);
  assert.deepEqual(await listIds(store), []);
});

test('a session that gets a message between the decision and the deletion stays', async () => {
  const on = await open();
  await using runtime = on.runtime;
  const session = await runtime.session('chat', { agent: 'noter' });
  await session.ask('one');
  on.clock.advance(2 * DAY);
  const rules = [{ deleteAfterDays: 1 }];
  const late = await apply(on, rules, {
    remove: async (key, condition) => {
      assert.equal(await session.ask('late'), 'Noted.');
      return on.store.delete(key, condition);
    },
  });
  assert.deepEqual(late, { chat: 'changed' });
  assert.equal(await session.ask('more'), 'Noted.');
  assert.deepEqual(await apply(on, rules), {});
});

test('a call in flight keeps its session', async () => {
  const clock = new SimulatedClock(START);
  const began = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<string>();
  const slow = tool({
    name: 'slow',
    description: 'Takes long',
    parameters: z.object({}),
    execute: async () => {
      began.resolve();
      return finish.promise;
    },
  });
  const model = new ScriptedModel(({ contents }) =>
    contents.at(-1)?.role === 'user'
      ? { toolCalls: [{ name: 'slow', args: {} }] }
      : { text: 'Ok.' },
  );
  const store = new MemoryStore();
  await using runtime = await openRuntime({
    agents: [agent({ name: 'slow', model, tools: [slow] })],
    store,
    clock,
  });
  const answer = (await runtime.session('chat')).ask('go');
  await began.promise;
  clock.advance(400 * DAY);
  assert.deepEqual(await apply({ store, clock }, [{ deleteAfterDays: 1, statuses: ['waiting'] }]), {
    chat: 'status',
  });
  finish.resolve('done');
  assert.equal(await answer, 'Ok.');
});
