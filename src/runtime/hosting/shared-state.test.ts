import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { agent } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import type { LogEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { MemoryStore, openSqliteStore } from '../../store/index.ts';
import type { Store } from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import type { ToolContext } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Session } from '../session/session.ts';
import type { Turn } from '../session/turn.ts';

type Work = (context: ToolContext) => unknown;

/** Calls its only tool for each message. `states` has the state at each model call. */
function worker(work: Work): { readonly agent: Agent; readonly states: Record<string, unknown>[] } {
  const states: Record<string, unknown>[] = [];
  const run = tool({ name: 'run', description: 'Works.', execute: (_, context) => work(context) });
  return {
    states,
    agent: agent({
      name: 'worker',
      tools: [run],
      model: new ScriptedModel(({ contents }) =>
        contents.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'run' }] } : { text: 'Done.' },
      ),
      instruction: ({ state }) => {
        states.push(state);
        return 'Work.';
      },
    }),
  };
}

async function readTurn(turn: Turn): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = [];
  for await (const event of turn) if ('seq' in event) events.push(event);
  return events;
}

const getResult = (log: readonly LogEvent[]): unknown =>
  log.find((event) => event.type === 'tool.result');

const stores: readonly (readonly [name: string, open: (t: TestContext) => Promise<Store>])[] = [
  ['memory', async () => new MemoryStore()],
  [
    'sqlite',
    async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'petrichor-shared-'));
      const store = await openSqliteStore(join(folder, 'store.db'));
      t.after(async () => {
        await store.close();
        rmSync(folder, { recursive: true, force: true });
      });
      return store;
    },
  ],
];

for (const [name, open] of stores) {
  test(`${name}: increments and appends of concurrent sessions all count`, async (t) => {
    const store = await open(t);
    const { agent } = worker(({ state, sessionKey }) => {
      state.increment('user:count');
      state.increment('app:count', 2);
      state.append('user:list', sessionKey.sessionId);
    });
    await using one = await openRuntime({ agents: [agent], store });
    await using two = await openRuntime({ agents: [agent], store });
    const sessions = await Promise.all(
      Array.from({ length: 16 }, async (_, n) =>
        (n % 2 === 0 ? one : two).session(`s${n}`, { user: n < 8 ? 'ada' : 'bob' }),
      ),
    );
    await Promise.all(sessions.map(async (session) => readTurn(session.send('go'))));
    for (const userId of ['ada', 'bob']) {
      const { entries } = await store.shared({ appName: 'petrichor', userId });
      assert.equal(entries['user:count'], 8);
      assert.equal(entries['app:count'], 32);
      assert.equal(new Set(entries['user:list'] as readonly string[]).size, 8);
    }
  });

  test(`${name}: a write based on a value that another session changed is a conflict, and the change is not lost`, async (t) => {
    const store = await open(t);
    const read = Promise.withResolvers<void>();
    const changeMade = Promise.withResolvers<void>();
    const { agent } = worker(async ({ state, sessionKey }) => {
      const before = Number(state.get('user:total') ?? 0);
      if (sessionKey.sessionId === 'slow') {
        read.resolve();
        await changeMade.promise;
      }
      state.set('user:total', before + 1);
      return before;
    });
    await using runtime = await openRuntime({ agents: [agent], store });
    const [slow, fast] = [await runtime.session('slow'), await runtime.session('fast')];
    const turn = slow.send('go');
    await read.promise;
    const quick = await readTurn(fast.send('go'));
    changeMade.resolve();
    const log = await readTurn(turn);
    assert.match(JSON.stringify(getResult(quick)), /"outcome":"ok"/);
    assert.match(JSON.stringify(getResult(log)), /"outcome":"error".*state_conflict/);
    const end = log.at(-1);
    assert.equal(end?.type === 'turn.ended' && end.stopReason, 'end_turn');
    const { entries } = await store.shared({ appName: 'petrichor', userId: 'default' });
    assert.equal(entries['user:total'], 1);
    // After another read the write succeeds.
    assert.match(JSON.stringify(getResult(await readTurn(slow.send('again')))), /"outcome":"ok"/);
    assert.equal(
      (await store.shared({ appName: 'petrichor', userId: 'default' })).entries['user:total'],
      2,
    );
  });
}

test('user state is visible in the next turn of every session of that user, and of no other', async () => {
  const { agent, states } = worker(({ state }) => state.set('user:name', 'Ada'));
  await using runtime = await openRuntime({ agents: [agent] });
  const [a, b] = [await runtime.session('a'), await runtime.session('b')];
  const stranger = await runtime.session('c', { user: 'bob' });
  await readTurn(b.send('before'));
  states.splice(0);
  await readTurn(a.send('go'));
  await readTurn(b.send('go'));
  assert.equal(states[2]?.['user:name'], 'Ada');
  states.splice(0);
  await readTurn(stranger.send('go'));
  assert.equal(states[0]?.['user:name'], undefined);
});

test('two increments of one key in one step both count; two sets based on a read conflict', async () => {
  const model = new ScriptedModel(({ contents }) =>
    contents.at(-1)?.role === 'user'
      ? { toolCalls: [{ name: 'add' }, { name: 'add' }, { name: 'swap' }, { name: 'swap' }] }
      : { text: 'Done.' },
  );
  const add = tool({
    name: 'add',
    description: 'Adds.',
    execute: (_, { state }) => state.increment('sum', 5),
  });
  const swap = tool({
    name: 'swap',
    description: 'Reads and writes.',
    execute: async (_, { state, callId }) => {
      const before = state.get('holder') ?? null;
      await new Promise(setImmediate);
      state.set('holder', callId);
      return { before };
    },
  });
  const both = agent({ name: 'both', tools: [add, swap], model });
  await using runtime = await openRuntime({ agents: [both] });
  const session = await runtime.session('x');
  const log = await readTurn(session.send('go'));
  const outcomes = log.flatMap((event) => (event.type === 'tool.result' ? [event.outcome] : []));
  assert.deepEqual(outcomes.toSorted(), ['error', 'ok', 'ok', 'ok']);
  assert.equal(await readLast(session, 'sum'), 10);
});

test('temp: state exists only in its turn, and a key that only resembles temp: is kept', async () => {
  const { agent, states } = worker(({ state }) => {
    state.set('temp:note', 'for this turn');
    state.set('temp_note', 'ordinary');
  });
  await using runtime = await openRuntime({ agents: [agent] });
  const session = await runtime.session('x');
  const log = await readTurn(session.send('one'));
  await readTurn(session.send('two'));
  assert.deepEqual(states[1], { 'temp:note': 'for this turn', temp_note: 'ordinary' });
  assert.deepEqual(states[2], { temp_note: 'ordinary' });
  assert.equal(JSON.stringify(log).includes('temp:note'), false);
});

test('a deleted key is absent in the next turn, shared or not', async () => {
  let turn = 0;
  const { agent, states } = worker(({ state }) => {
    if (turn++ === 0) {
      state.set('own', 1);
      state.set('user:mine', 1);
    } else {
      state.delete('own');
      state.delete('user:mine');
    }
  });
  await using runtime = await openRuntime({ agents: [agent] });
  const session = await runtime.session('x');
  for (const text of ['one', 'two', 'three']) await readTurn(session.send(text));
  assert.deepEqual(states[2], { own: 1, 'user:mine': 1 });
  assert.deepEqual(states[4], {});
});

test('a tool that fails after writing state writes nothing', async () => {
  const { agent, states } = worker(({ state }) => {
    state.set('half', 'done');
    throw new Error('no luck');
  });
  await using runtime = await openRuntime({ agents: [agent] });
  const session = await runtime.session('x');
  await readTurn(session.send('go'));
  assert.deepEqual(states.at(-1), {});
});

async function readLast(session: Session, key: string): Promise<unknown> {
  let value: unknown;
  for await (const event of session.events(0, { follow: false }))
    if (event.type === 'state.changed' && key in event.delta) value = event.delta[key];
  return value;
}
