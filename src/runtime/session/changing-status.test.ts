import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, custom, sequential, START, workflow } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import type { LogEvent, SessionStatus } from '../../core/index.ts';
import { userContent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import type { ModelScript } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import type { Store } from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';
import { IllegalTransitionError } from './illegal-transition-error.ts';
import type { Session } from './session.ts';
import type { Turn } from './turn.ts';

const ask = tool({ name: 'ask', description: 'Asks a person.' });

const assistant = (model: ModelScript = () => ({ text: 'Yes.' })): Agent =>
  agent({ name: 'assistant', model: new ScriptedModel(model), tools: [ask] });

/** Calls `ask` for each message. */
const asking: ModelScript = ({ contents }) =>
  contents.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'ask', args: {} }] } : { text: 'Done.' };

/** One agent of each kind, with a function that counts how often it has worked. */
const KINDS: readonly (readonly [string, () => readonly [Agent, () => number]])[] = [
  [
    'agent()',
    () => {
      const model = new ScriptedModel(() => ({ text: 'Yes.' }));
      return [agent({ name: 'one', model }), () => model.requests.length];
    },
  ],
  [
    'agent() with sub-agents',
    () => {
      const model = new ScriptedModel(() => ({ text: 'Yes.' }));
      const other = agent({ name: 'other', description: 'Helps.', model });
      return [agent({ name: 'root', model, subAgents: [other] }), () => model.requests.length];
    },
  ],
  [
    'sequential()',
    () => {
      const model = new ScriptedModel(() => ({ text: 'Yes.' }));
      const subAgents = ['a', 'b'].map((name) => agent({ name, model }));
      return [sequential({ name: 'steps', subAgents }), () => model.requests.length / 2];
    },
  ],
  [
    'workflow()',
    () => {
      let runs = 0;
      const run = (): string => `planned ${++runs}`;
      const nodes = [{ kind: 'function', name: 'plan', run }] as const;
      return [workflow({ name: 'flow', nodes, edges: [{ from: START, to: 'plan' }] }), () => runs];
    },
  ],
  [
    'custom()',
    () => {
      let runs = 0;
      const own = custom({
        name: 'own',
        // oxlint-disable-next-line require-yield -- it only counts
        async *run() {
          runs++;
        },
      });
      return [own, () => runs];
    },
  ],
];

async function readTurn(turn: Turn): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = [];
  for await (const event of turn) if ('seq' in event) events.push(event);
  return events;
}

async function listTypes(session: Session): Promise<readonly string[]> {
  const types: string[] = [];
  for await (const { type } of session.events(0, { follow: false })) types.push(type);
  return types;
}

async function until(session: Session, type: LogEvent['type']): Promise<void> {
  for await (const event of session.events()) if (event.type === type) return;
}

const readStatus = async (session: Session): Promise<string> => (await session.status()).status;

for (const [kind, create] of KINDS) {
  test(`${kind}: a session is paused, resumed, completed and archived`, async () => {
    const [one, countRuns] = create();
    await using runtime = await openRuntime({ agents: [one] });
    const session = await runtime.session('s');
    await session.pause();
    assert.equal(await readStatus(session), 'paused');
    const turn = session.send('Hi');
    await turn.accepted;
    assert.deepEqual([await listTypes(session), countRuns()], [['session.paused'], 0]);
    await session.resume();
    assert.equal((await readTurn(turn)).at(-1)?.type, 'turn.ended');
    assert.deepEqual([await readStatus(session), countRuns()], ['idle', 1]);

    await session.complete();
    assert.equal(await readStatus(session), 'completed');
    await session.archive();
    assert.equal(await readStatus(session), 'archived');
    assert.deepEqual((await listTypes(session)).slice(-2), [
      'session.completed',
      'session.archived',
    ]);
    for (const verb of ['pause', 'resume', 'complete', 'archive'] as const)
      await assert.rejects(session[verb](), { code: 'illegal_transition', status: 'archived' });
    await assert.rejects(session.ask('More'), { code: 'illegal_transition', status: 'archived' });
    assert.deepEqual([(await listTypes(session)).at(-1), countRuns()], ['session.archived', 1]);
  });
}

/** How to bring a session of `assistant` to each status. */
const SET_UPS: Readonly<
  Record<
    SessionStatus,
    readonly [ModelScript, (on: Session, clock: SimulatedClock) => Promise<unknown>]
  >
> = {
  queued: [[], async () => {}],
  running: [
    [{ text: 'Never.', delayMs: 600_000 }],
    async (on) => {
      on.send('Hi');
      await until(on, 'turn.started');
    },
  ],
  waiting: [asking, async (on) => readTurn(on.send('Hi'))],
  rescheduling: [
    [{ text: '', error: { kind: 'overloaded' } }],
    async (on) => {
      on.send('Hi');
      await until(on, 'turn.rescheduled');
    },
  ],
  idle: [[{ text: 'Yes.' }, { text: 'Yes.' }], async (on) => on.ask('Hi')],
  paused: [[], async (on) => on.pause()],
  failed: [
    [{ text: '', error: { kind: 'overloaded' } }],
    async (on, clock) => {
      const turn = readTurn(on.send('Hi'));
      const progress = { isOver: false };
      void turn.finally(() => (progress.isOver = true));
      while (!progress.isOver) {
        clock.advance(1000);
        await new Promise(setImmediate);
      }
    },
  ],
  completed: [
    [{ text: 'Yes.' }],
    async (on) => {
      await on.ask('Hi');
      await on.complete();
    },
  ],
  archived: [[], async (on) => on.archive()],
};

const VERBS = {
  pause: async (on: Session) => on.pause(),
  resume: async (on: Session) => on.resume(),
  complete: async (on: Session) => on.complete(),
  archive: async (on: Session) => on.archive(),
  send: async (on: Session) => on.send('More').accepted,
  inject: async (on: Session) =>
    on.inject(
      'user.in',
      { messageId: 'm', invocationId: 'inv_m', content: userContent('More') },
      { dedupeKey: 'm' },
    ),
  append: async (on: Session) => on.append({ author: 'crm', content: 'Paid.' }),
  interrupt: async (on: Session) => on.interrupt(),
  fork: async (on: Session) => on.fork({ id: 'copy' }),
} as const;

const INPUTS = ['send', 'inject', 'append', 'interrupt', 'fork'] as const;

const LEGAL: Readonly<Record<SessionStatus, readonly (keyof typeof VERBS)[]>> = {
  queued: ['pause', 'archive', ...INPUTS],
  running: ['pause', 'archive', ...INPUTS],
  waiting: ['pause', 'archive', ...INPUTS],
  rescheduling: ['pause', 'archive', ...INPUTS],
  idle: ['pause', 'complete', 'archive', ...INPUTS],
  paused: ['resume', 'archive', ...INPUTS],
  failed: ['resume', 'archive', ...INPUTS],
  completed: ['archive', 'fork'],
  archived: ['fork'],
};

for (const status of Object.keys(SET_UPS) as readonly SessionStatus[]) {
  test(`a session that is ${status} allows ${LEGAL[status].join(', ')}`, async () => {
    const [script, setUp] = SET_UPS[status];
    for (const verb of Object.keys(VERBS) as readonly (keyof typeof VERBS)[]) {
      const clock = new SimulatedClock(1_000);
      await using runtime = await openRuntime({ agents: [assistant(script)], clock });
      const session = await runtime.session('s');
      await setUp(session, clock);
      assert.equal(await readStatus(session), status);
      if (LEGAL[status].includes(verb)) {
        await VERBS[verb](session);
        continue;
      }
      const before = await listTypes(session);
      await assert.rejects(VERBS[verb](session), (error: unknown) => {
        assert.ok(error instanceof IllegalTransitionError);
        assert.deepEqual(
          [error.code, error.sessionId, error.status],
          ['illegal_transition', 's', status],
        );
        assert.match(error.message, /^Session "s" is .*is not possible\. \w.*\.$/);
        return true;
      });
      assert.deepEqual([await listTypes(session), await readStatus(session)], [before, status]);
      assert.equal((await session.status()).inboxPending, false);
    }
  });
}

test('a rewind is refused where nothing can be rewound', async () => {
  const isAllowed = new Set<SessionStatus>(['idle', 'running', 'waiting', 'failed']);
  for (const status of Object.keys(SET_UPS) as readonly SessionStatus[]) {
    const [script, setUp] = SET_UPS[status];
    const clock = new SimulatedClock(1_000);
    await using runtime = await openRuntime({ agents: [assistant(script)], clock });
    const session = await runtime.session('s');
    await setUp(session, clock);
    await assert.rejects(session.rewind({ beforeInvocationId: 'inv_none' }), {
      code: isAllowed.has(status) ? 'invalid_input' : 'illegal_transition',
    });
  }
});

test('archiving stops the running turn, and its caller gets the end of the turn', async () => {
  const clock = new SimulatedClock(1_000);
  const never = assistant([{ text: 'Never.', delayMs: 600_000 }]);
  await using runtime = await openRuntime({ agents: [never], clock });
  const session = await runtime.session('s');
  const turn = session.send('Hi');
  await until(session, 'turn.started');
  const events = readTurn(turn);
  await session.archive();
  const ended = (await events).at(-1);
  assert.equal(ended?.type === 'turn.ended' && ended.stopReason, 'interrupted');
  assert.equal((await listTypes(session)).at(-1), 'session.archived');
});

test('a message that waits when the session is archived or completed ends with an error', async () => {
  for (const to of ['archived', 'completed'] as const) {
    const answered = Promise.withResolvers<void>();
    const model = new ScriptedModel([{ text: 'Late.', delayMs: 1 }], {
      sleep: async () => answered.promise,
    });
    await using runtime = await openRuntime({ agents: [agent({ name: 'slow', model })] });
    const session = await runtime.session('s');
    const first = session.send('One');
    await until(session, 'turn.started');
    const second = session.send('Two');
    const [reading, text] = [readTurn(second), second.text()];
    const refused = { code: 'illegal_transition', sessionId: 's', status: to };
    const failures = [assert.rejects(reading, refused), assert.rejects(text, refused)];
    await second.accepted;
    if (to === 'archived') await session.archive();
    else {
      await session.pause();
      answered.resolve();
      await readTurn(first);
      // One step resumes and completes the session, so the next message cannot start its turn.
      const batch = runtime.batch();
      const both = await batch.session('s');
      for (const place of ['resume.in', 'complete.in'])
        await batch.add(async () => both.inject(place, null, { dedupeKey: place }));
      await batch.submit();
    }
    await Promise.all(failures);
    assert.equal(await readStatus(session), to);
    assert.equal((await listTypes(session)).filter((type) => type === 'turn.started').length, 1);
  }
});

/** A store with another method. */
function withMethod<K extends 'inject' | 'commit'>(
  store: MemoryStore,
  name: K,
  method: MemoryStore[K],
): Store {
  return new Proxy(store, {
    get: (target, key) => {
      const property: unknown = key === name ? method : Reflect.get(target, key, target);
      return typeof property === 'function' ? property.bind(target) : property;
    },
  });
}

/** A store that calls `before` once, before an input to this place is written. */
function beforeInput(store: MemoryStore, place: string, before: () => Promise<void>): Store {
  let isDone = false;
  return withMethod(store, 'inject', async (...args) => {
    if (args[1].place === place && !isDone) {
      isDone = true;
      await before();
    }
    return store.inject(...args);
  });
}

test('a message that another runtime overtakes by archiving the session ends with an error', async () => {
  const store = new MemoryStore();
  await using other = await openRuntime({ agents: [assistant()], store });
  const archive = async (): Promise<void> => {
    await (await other.session('s')).archive();
  };
  await using runtime = await openRuntime({
    agents: [assistant()],
    store: beforeInput(store, 'user.in', archive),
  });
  const session = await runtime.session('s');
  const turn = session.send('Hi');
  await turn.accepted;
  await assert.rejects(turn.text(), { code: 'illegal_transition', status: 'archived' });
  assert.deepEqual(await listTypes(session), ['session.archived']);
});

test('a message that was answered can be asked again in a closed session', async () => {
  await using runtime = await openRuntime({ agents: [assistant([{ text: 'First.' }])] });
  const session = await runtime.session('s');
  assert.equal(await session.ask('Hi', { messageId: 'm1' }), 'First.');
  await session.complete();
  assert.equal(await session.ask('Hi', { messageId: 'm1' }), 'First.');
  await assert.rejects(session.ask('Hi', { messageId: 'm2' }), IllegalTransitionError);
});

test('a batch refuses a message to a closed session, and takes a status change', async () => {
  await using runtime = await openRuntime({ agents: [assistant()] });
  const session = await runtime.session('s');
  const first = runtime.batch();
  const batched = await first.session('s');
  const { done } = await first.add(async () => batched.archive());
  await first.submit();
  await done;
  assert.equal(await readStatus(session), 'archived');
  const second = runtime.batch();
  const closed = await second.session('s');
  const adding = second.add(async () => closed.send('Hi').accepted);
  await assert.rejects(adding, IllegalTransitionError);
  assert.equal((await session.status()).inboxPending, false);
});

test('two archivings from two runtimes archive the session once', async () => {
  for (let round = 0; round < 5; round++) {
    const store = new MemoryStore();
    await using one = await openRuntime({ agents: [assistant(asking)], store });
    await using two = await openRuntime({ agents: [assistant(asking)], store });
    const sessions = [await one.session('s'), await two.session('s')] as const;
    await readTurn(sessions[0].send('Hi'));
    const results = await Promise.allSettled(sessions.map(async (session) => session.archive()));
    for (const result of results)
      if (result.status === 'rejected') assert.equal(result.reason.code, 'illegal_transition');
    assert.ok(results.some(({ status }) => status === 'fulfilled'));
    const types = await listTypes(sessions[1]);
    assert.equal(types.filter((type) => type === 'session.archived').length, 1);
    assert.equal(types.filter((type) => type === 'turn.ended').length, 1);
    assert.equal(types.at(-1), 'session.archived');
    for (const session of sessions) assert.equal(await readStatus(session), 'archived');
  }
});

test('the refused request of another caller does not fail a pause', async () => {
  const refuse = async (): Promise<void> => {
    const session = await runtime.session('s');
    await session.inject('complete.in', null, { dedupeKey: 'early' });
    await until(session, 'error');
  };
  const store = beforeInput(new MemoryStore(), 'pause.in', refuse);
  await using runtime = await openRuntime({ agents: [assistant()], store });
  const session = await runtime.session('s');
  await session.pause();
  assert.deepEqual(await listTypes(session), ['error', 'session.paused']);
});

test('a status change is kept when the runtime closes before it happens', async () => {
  const store = new MemoryStore();
  const committing = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  // The commit that confirms the pause waits until the runtime closes.
  const slow = withMethod(store, 'commit', async (...args) => {
    committing.resolve();
    await released.promise;
    return store.commit(...args);
  });
  const first = await openRuntime({ agents: [assistant()], store: slow });
  const pausing = (await first.session('s')).pause();
  const outcome = pausing.then(
    () => 'paused',
    ({ code }: { readonly code: string }) => code,
  );
  await committing.promise;
  const closing = first.close();
  released.resolve();
  await closing;
  assert.ok(['paused', 'runtime_closed'].includes(await outcome));
  await using second = await openRuntime({ agents: [assistant()], store });
  const session = await second.session('s');
  await until(session, 'session.paused');
  assert.equal(await readStatus(session), 'paused');
});

test('a hosted session refuses nothing by reading the store', async () => {
  const store = new MemoryStore();
  let finds = 0;
  const counting = new Proxy(store, {
    get: (target, key) => {
      const property: unknown = Reflect.get(target, key, target);
      if (key === 'find') finds++;
      return typeof property === 'function' ? property.bind(target) : property;
    },
  });
  await using runtime = await openRuntime({ agents: [assistant()], store: counting });
  const session = await runtime.session('s');
  await session.ask('Hi');
  finds = 0;
  await session.ask('Again');
  const message = { messageId: 'm', invocationId: 'inv_m', content: userContent('More') };
  await session.inject('user.in', message, { dedupeKey: 'm' });
  assert.equal(finds, 0);
});
