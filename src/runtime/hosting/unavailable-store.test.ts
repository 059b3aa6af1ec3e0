import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { agent, agentTool } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import type { LogEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { MemoryStore, type Store } from '../../store/index.ts';
import { StoreUnavailableError } from '../../store/internal.ts';
import { tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Session } from '../session/session.ts';

/** A store of which the next reads fail, as while a database restarts. Writes succeed. */
function createFailingStore(
  store: Store,
  ...names: readonly (keyof Store)[]
): {
  readonly store: Store;
  failNext: (reads: number) => void;
} {
  let failing = 0;
  const proxy = new Proxy(store, {
    get: (target, name: keyof Store) => {
      const member = target[name];
      if (typeof member !== 'function') return member;
      return (...args: never[]): unknown => {
        if (names.includes(name) && failing > 0) {
          failing--;
          throw new StoreUnavailableError('io', 'memory');
        }
        return Reflect.apply(member, target, args);
      };
    },
  });
  return { store: proxy, failNext: (count) => void (failing = count) };
}

const texts = (events: readonly LogEvent[]): readonly string[] =>
  events.flatMap((event) =>
    event.type === 'error' ? [event.code] : event.type === 'turn.ended' ? [event.stopReason] : [],
  );

test('a turn that is taken over while the store is unavailable waits for the store', async () => {
  const memory = new MemoryStore();
  const began = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const createAgent = (isFirst: boolean, onRun: () => void) =>
    agent({
      name: 'looker',
      maxModelCalls: 5,
      model: new ScriptedModel(({ contents }) =>
        contents.at(-1)?.role === 'tool' ? { text: 'Done.' } : { toolCalls: [{ name: 'look' }] },
      ),
      tools: [
        tool({
          name: 'look',
          description: 'Looks.',
          readOnly: true,
          execute: async () => {
            onRun();
            if (isFirst) await mayEnd.promise;
            return 'seen';
          },
        }),
      ],
    });
  const first = await openRuntime({ agents: [createAgent(true, began.resolve)], store: memory });
  const { key } = await first.session('x');
  void (await first.session('x')).send('Look.').accepted;
  await began.promise;
  await memory.evict(key);
  const failing = createFailingStore(memory, 'read');
  const second = await openRuntime({
    agents: [createAgent(false, () => failing.failNext(3))],
    store: failing.store,
  });
  // Reads past the failing store.
  let events: LogEvent[] = [];
  while (events.at(-1)?.type !== 'turn.ended') {
    await setTimeout(2);
    events = [];
    for await (const event of memory.read(key)) events.push(event);
  }
  assert.deepEqual(texts(events), ['end_turn']);
  mayEnd.resolve();
  await second.close();
  await first.close();
});

test('a call of an agent that begins while the store is unavailable waits for the store', async () => {
  const { store, failNext } = createFailingStore(new MemoryStore(), 'find', 'read');
  const clerk = agent({
    name: 'clerk',
    description: 'Answers one question.',
    model: new ScriptedModel(() => ({ text: 'An answer.' })),
  });
  const boss = agent({
    name: 'boss',
    model: new ScriptedModel(({ contents }) => {
      if (contents.at(-1)?.role === 'tool') return { text: 'Done.' };
      failNext(3);
      return { toolCalls: [{ name: 'clerk', args: { request: 'Go.' } }] };
    }),
    tools: [agentTool(clerk)],
  });
  await using runtime = await openRuntime({ agents: [boss], store });
  const session = await runtime.session('x');
  const outcomes: string[] = [];
  for await (const event of session.send('Ask.')) {
    if (event.type === 'tool.result') outcomes.push(event.outcome);
    if (event.type === 'turn.ended') break;
  }
  assert.deepEqual(outcomes, ['ok']);
});

test('a drain ends although the store cannot commit, and the next runtime continues the turn', async () => {
  const memory = new MemoryStore();
  const { store, failNext } = createFailingStore(memory, 'commit');
  const clock = new SimulatedClock();
  const runs: string[] = [];
  const { worker, endTool } = createWorker(runs, true);
  const failed = Promise.withResolvers<void>();
  const first = await openRuntime({
    agents: [worker],
    store,
    clock,
    onError: (error) => {
      if (error instanceof StoreUnavailableError) failed.resolve();
    },
  });
  const session = await first.session('x');
  await session.send('Work.').accepted;
  while (runs.length === 0) await setImmediate();
  failNext(Infinity);
  endTool();
  await failed.promise;
  const drained = first.drain({ timeoutMs: 1000 });
  clock.advance(11_000);
  await drained;
  await first.close();
  await using second = await openRuntime({ agents: [worker], store: memory });
  assert.deepEqual(await readOutcomes(await second.session('x')), ['ok']);
  assert.equal(runs.length, 2);
});

/** A tool that ends when the store has failed. */
function createWorker(
  runs: string[],
  readOnly = false,
): { readonly worker: Agent; readonly endTool: () => void } {
  const end = Promise.withResolvers<void>();
  const work = tool({
    name: 'work',
    description: 'Works.',
    readOnly,
    execute: async () => {
      runs.push('began');
      await end.promise;
      return 'ok';
    },
  });
  const model = new ScriptedModel(({ contents }) =>
    contents.at(-1)?.role === 'tool' ? { text: 'Done.' } : { toolCalls: [{ name: 'work' }] },
  );
  return { worker: agent({ name: 'worker', model, tools: [work] }), endTool: end.resolve };
}

async function readOutcomes(session: Session): Promise<readonly string[]> {
  const outcomes: string[] = [];
  for await (const event of session.events()) {
    if (event.type === 'tool.result') outcomes.push(event.outcome);
    if (event.type === 'turn.ended') break;
  }
  return outcomes;
}

test('a session that runs goes on when its inbox cannot be read', async () => {
  const store = new MemoryStore();
  const runs: string[] = [];
  const { worker, endTool } = createWorker(runs);
  const inbox = store.inbox.bind(store);
  let reads = 0;
  const failed = Promise.withResolvers<void>();
  store.inbox = async (...args) => {
    // The second read is for inputs that came while the session was loaded.
    if (++reads !== 2) return inbox(...args);
    while (runs.length === 0) await setImmediate();
    failed.resolve();
    throw new StoreUnavailableError('io', 'memory');
  };
  const errors: unknown[] = [];
  await using runtime = await openRuntime({
    agents: [worker],
    store,
    onError: (error) => void errors.push(error),
  });
  const session = await runtime.session('x');
  await session.send('Work.').accepted;
  await failed.promise;
  for (let n = 0; n < 20; n++) await setImmediate();
  endTool();
  assert.deepEqual([await readOutcomes(session), runs, errors.length], [['ok'], ['began'], 1]);
});

test('a session that runs goes on when it cannot be read after a conflict of shared state', async () => {
  const store = new MemoryStore();
  const runs: string[] = [];
  const { worker, endTool } = createWorker(runs);
  const [commit, steps] = [store.commit.bind(store), store.steps.bind(store)];
  let conflicts = 0;
  const failed = Promise.withResolvers<void>();
  await using runtime = await openRuntime({ agents: [worker], store });
  const session = await runtime.session('x');
  await session.send('Work.').accepted;
  while (runs.length === 0) await setImmediate();
  store.commit = async (batch) => {
    if (conflicts++ > 0) return commit(batch);
    store.steps = (...args) => {
      store.steps = steps;
      failed.resolve();
      if (conflicts === 1) throw new StoreUnavailableError('io', 'memory');
      return steps(...args);
    };
    return batch.map(() => ({ ok: false, refused: 'conflict', keys: ['user:x'] }));
  };
  await session.send('Work more.').accepted;
  await failed.promise;
  for (let n = 0; n < 20; n++) await setImmediate();
  endTool();
  assert.deepEqual(await readOutcomes(session), ['ok']);
  assert.equal(runs[0], 'began');
});
