import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, sessionWrite } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { getFunctionCalls, getFunctionResponses } from '../../core/index.ts';
import type { Content, LogEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { allOf, net, place, pure, SimulatedClock } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Runtime } from '../runtime.ts';
import type { Session } from '../session/session.ts';
import type { Turn } from '../session/turn.ts';

const anything = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
} as const;

interface TestAgent {
  readonly agent: Agent;
  readonly model: ScriptedModel;
  /** The state at each model call. */
  readonly states: unknown[];
  readonly ran: string[];
}

/** Increments a counter in every scope for each message, then answers. */
function createTestAgent(): TestAgent {
  const states: unknown[] = [];
  const ran: string[] = [];
  const count = tool({
    name: 'count',
    description: 'Counts.',
    execute: (_, { state, callId }) => {
      ran.push(callId);
      state.increment('turns');
      state.set('last', `turn ${Number(state.get('turns'))}`);
      state.increment('user:turns');
      state.set('temp:note', 'gone soon');
      return Number(state.get('turns'));
    },
  });
  const model = new ScriptedModel(({ contents }, turn) =>
    contents.at(-1)?.role === 'user'
      ? { text: 'Counting.', toolCalls: [{ name: 'count' }] }
      : { text: `Answer ${turn}` },
  );
  const counter = agent({
    name: 'counter',
    tools: [count],
    model,
    instruction: ({ state }) => {
      states.push(state);
      return 'Count.';
    },
  });
  return { states, ran, model, agent: counter };
}

async function readTurn(turn: Turn): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = [];
  for await (const event of turn) if ('seq' in event) events.push(event);
  return events;
}

async function readLog(session: Session): Promise<readonly LogEvent[]> {
  const log: LogEvent[] = [];
  for await (const event of session.events(0, { follow: false }))
    if ('seq' in event) log.push(event);
  return log;
}

/** Sends a message and returns the contents of the model request. */
async function readRequest({ model }: TestAgent, session: Session): Promise<readonly Content[]> {
  const before = model.requests.length;
  await readTurn(session.send('what do you see?'));
  return model.requests[before]?.contents ?? assert.fail('the model was not asked');
}

async function boundaries(runtime: Runtime, session: Session): Promise<readonly number[]> {
  const ends: number[] = [];
  let seq = 0;
  for await (const { events } of runtime.store.steps(session.key, 0))
    ends.push((seq += events.length));
  return [...new Set(ends)];
}

test('a fork at any step has the log up to that step, and runs independently', async () => {
  const setup = createTestAgent();
  await using runtime = await openRuntime({ agents: [setup.agent] });
  const session = await runtime.session('x');
  await readTurn(session.send('one', { messageId: 'm1' }));
  await readTurn(session.send('two', { messageId: 'm2' }));
  const log = await readLog(session);
  const ran = setup.ran.length;
  for (const upTo of await boundaries(runtime, session)) {
    const fork = await session.fork({ id: `fork-${upTo}`, upTo });
    const started = log.slice(0, upTo).findLast(({ type }) => /^turn\.(started|ended)$/.test(type));
    if (started?.type === 'turn.started') {
      // The turn was running. In the copy it is stopped, and none of its effects run again.
      for await (const event of fork.events())
        if (event.type === 'turn.ended' && event.seq > upTo) break;
    }
    const copied = await readLog(fork);
    assert.deepEqual(copied.slice(0, upTo), log.slice(0, upTo), `up to ${upTo}`);
    assert.equal(setup.ran.length, ran, `nothing runs again in a fork up to ${upTo}`);
    const contents = await readRequest(setup, fork);
    for (const [index, content] of contents.entries()) {
      const calls = getFunctionCalls(content);
      if (calls.length > 0)
        assert.equal(
          getFunctionResponses(contents[index + 1] ?? assert.fail()).length,
          calls.length,
        );
    }
    setup.ran.length = ran;
    assert.equal((await readLog(fork)).at(-1)?.type, 'turn.ended');
  }
  assert.deepEqual(await readLog(session), log);
});

test('a fork at any record has the steps that end there or before, and its marking', async () => {
  const setup = createTestAgent();
  await using runtime = await openRuntime({ agents: [setup.agent] });
  const session = await runtime.session('x');
  await readTurn(session.send('one', { messageId: 'm1' }));
  const steps: { readonly end: number; readonly records: unknown }[] = [];
  const copied: unknown[] = [];
  for await (const { records } of runtime.store.steps(session.key, 0)) {
    copied.push(...records);
    steps.push({ end: records.at(-1)?.seq ?? 0, records: [...copied] });
  }
  const last = steps.at(-1)?.end ?? assert.fail();
  assert.ok(steps.length > 3, `${steps.length} steps`);
  for (let record = 0; record <= last; record++) {
    const step = steps.findLast(({ end }) => end <= record);
    const fork = await session.fork({ id: `at-${record}`, atRecord: record });
    const found: unknown[] = [];
    for await (const { records } of runtime.store.steps(fork.key, 0)) found.push(...records);
    assert.deepEqual(found.slice(0, step?.end ?? 0), step?.records ?? [], `at record ${record}`);
    const kinds = found.slice(step?.end ?? 0).map((one) => Object(one)['transition']);
    assert.ok(!kinds.includes('turn.continue'), 'the turn that ran there does not go on');
  }
  const refused = { code: 'invalid_input' };
  await assert.rejects(session.fork({ id: 'z', atRecord: last + 1 }), refused);
  await assert.rejects(session.fork({ id: 'z', atRecord: -1 }), refused);
  await assert.rejects(session.fork({ id: 'z', atRecord: 1, upTo: 1 }), refused);
});

test('a fork and its original share the state of the user, but not their events', async () => {
  const setup = createTestAgent();
  await using runtime = await openRuntime({ agents: [setup.agent] });
  const session = await runtime.session('x');
  await readTurn(session.send('one'));
  const fork = await session.fork({ id: 'y' });
  assert.deepEqual(await readLog(fork), await readLog(session));
  await readTurn(fork.send('two'));
  assert.deepEqual(setup.states.at(-1), {
    turns: 2,
    last: 'turn 2',
    'user:turns': 2,
    'temp:note': 'gone soon',
  });
  await readTurn(session.send('other'));
  assert.deepEqual(setup.states.at(-1), {
    turns: 2,
    last: 'turn 2',
    'user:turns': 3,
    'temp:note': 'gone soon',
  });
  const texts = (log: readonly LogEvent[]): string => JSON.stringify(log);
  assert.ok(!texts(await readLog(session)).includes('two'));
  assert.ok(!texts(await readLog(fork)).includes('other'));
});

test('a fork of a waiting turn stops waiting in the copy only', async () => {
  const wipe = tool({
    name: 'wipe',
    description: 'Wipes.',
    needsApproval: true,
    execute: () => 'ok',
  });
  const model = new ScriptedModel(({ contents }) =>
    contents.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'wipe' }] } : { text: 'Done.' },
  );
  await using runtime = await openRuntime({ agents: [agent({ name: 'a', tools: [wipe], model })] });
  const session = await runtime.session('x');
  await readTurn(session.send('go'));
  const fork = await session.fork({ id: 'y' });
  for await (const event of fork.events()) if (event.type === 'turn.ended') break;
  assert.deepEqual(await fork.pending(), []);
  const [call] = await session.pending();
  assert.equal((await readTurn(session.approve(call?.id ?? ''))).at(-1)?.type, 'turn.ended');
});

test('a fork to an existing id, beyond the log, or inside a step is rejected', async () => {
  const setup = createTestAgent();
  await using runtime = await openRuntime({ agents: [setup.agent] });
  const session = await runtime.session('x');
  await runtime.session('y');
  await readTurn(session.send('one'));
  const refused = { code: 'invalid_input' };
  await assert.rejects(session.fork({ id: 'y' }), refused);
  await assert.rejects(session.fork({ id: 'x' }), refused);
  await assert.rejects(session.fork({ id: 'z', upTo: 999 }), refused);
  await assert.rejects(session.fork({ id: 'z', upTo: -1 }), refused);
  const ends = await boundaries(runtime, session);
  const inside = [1, 2, 3, 4, 5, 6, 7].find((seq) => !ends.includes(seq)) ?? assert.fail();
  await assert.rejects(session.fork({ id: 'z', upTo: inside }), refused);
  assert.equal(await runtime.find('z'), undefined);
});

test('a fork of a long session is complete, also while others watch the store', async () => {
  const store = new MemoryStore();
  const setup = createTestAgent();
  await using runtime = await openRuntime({ agents: [setup.agent], store });
  await using watcher = await openRuntime({ agents: [setup.agent], store });
  const session = await runtime.session('x');
  for (let n = 0; n < 30; n++) await readTurn(session.send(`message ${n}`));
  const fork = await session.fork({ id: 'y' });
  assert.deepEqual(await readLog(fork), await readLog(session));
  assert.equal((await readRequest(setup, fork)).length, 30 * 4 + 1);
  assert.equal((await watcher.sessions()).length, 2);
});

test('a pending timer of a session also fires in its fork', async () => {
  const clock = new SimulatedClock(1_000);
  const store = new MemoryStore();
  const timerInput = place('egg.in', anything, { environment: true, version: 1 });
  const timer = net('egg-timer', {
    in: { wound: timerInput },
    out: { sessionWrite },
    transitions: [
      pure('egg.ring', {
        take: { wound: timerInput },
        after: () => 60_000,
        give: allOf({ write: sessionWrite }),
        run: () => ({ write: { writes: { increment: { rung: 1 } } } }),
      }),
    ],
  });
  const cook = agent({ name: 'cook', model: new ScriptedModel([]), extensions: [timer] });
  {
    await using runtime = await openRuntime({ agents: [cook], store, clock });
    const session = await runtime.session('x');
    await session.inject(timerInput, null, { dedupeKey: 'a' });
    while ((await session.status()).nextDueAt === null) await new Promise(setImmediate);
    await session.fork({ id: 'y' });
  }
  await using runtime = await openRuntime({ agents: [cook], store, clock });
  const rings = ['x', 'y'].map(async (id) => {
    for await (const event of (await runtime.find(id))?.events() ?? [])
      if (event.type === 'state.changed') return event.delta;
    return undefined;
  });
  for (let n = 0; n < 20; n++) await new Promise(setImmediate);
  clock.advance(60_000);
  assert.deepEqual(await Promise.all(rings), [{ rung: 1 }, { rung: 1 }]);
});

test('a rewind restores the exact model request and the state', async () => {
  const setup = createTestAgent();
  await using runtime = await openRuntime({ agents: [setup.agent] });
  const session = await runtime.session('x');
  const turns = ['one', 'two', 'three'].map((text) => session.send(text));
  const prompts: (readonly Content[])[] = [];
  for (const turn of turns) await readTurn(turn);
  for (const { contents } of setup.model.requests)
    if (contents.at(-1)?.role === 'user') prompts.push(contents);
  const log = await readLog(session);
  for (const index of [2, 1, 0]) {
    await session.rewind({ beforeInvocationId: turns[index]?.invocationId ?? '' });
    const before = setup.model.requests.length;
    await readTurn(session.send('again'));
    const contents = setup.model.requests[before]?.contents ?? assert.fail();
    assert.deepEqual(contents.slice(0, -1), prompts[index]?.slice(0, -1));
    // State that the user shares between sessions is not rewound.
    assert.deepEqual(setup.states[before], {
      ...(index > 0 && { turns: index, last: `turn ${index}` }),
      'user:turns': 3 + (2 - index),
    });
  }
  // The log keeps everything.
  assert.deepEqual((await readLog(session)).slice(0, log.length), log);
  assert.equal((await readLog(session)).filter(({ type }) => type === 'session.rewound').length, 3);
});

test('a rewind takes effect after the running turn and before the next message', async () => {
  const setup = createTestAgent();
  await using runtime = await openRuntime({ agents: [setup.agent] });
  const session = await runtime.session('x');
  const first = session.send('one');
  await readTurn(first);
  const second = session.send('two');
  await second.accepted;
  const rewound = session.rewind({ beforeInvocationId: first.invocationId });
  const third = session.send('three');
  await rewound;
  await readTurn(third);
  const types = (await readLog(session)).map(({ type }) => type);
  assert.ok(types.indexOf('session.rewound') > types.indexOf('turn.ended'));
  const contents = setup.model.requests.at(-1)?.contents ?? assert.fail();
  assert.equal(JSON.stringify(contents).includes('one'), false);
  assert.equal(JSON.stringify(contents).includes('three'), true);
});

test('a rewind to an unknown or a rewound invocation is rejected', async () => {
  const setup = createTestAgent();
  await using runtime = await openRuntime({ agents: [setup.agent] });
  const session = await runtime.session('x');
  const first = session.send('one');
  const second = session.send('two');
  await readTurn(first);
  await readTurn(second);
  const refused = { code: 'invalid_input' };
  await assert.rejects(session.rewind({ beforeInvocationId: 'e-none' }), refused);
  await session.rewind({ beforeInvocationId: first.invocationId });
  await readTurn(session.send('three'));
  await assert.rejects(session.rewind({ beforeInvocationId: second.invocationId }), refused);
});

test('a fork of a rewound session has the rewound conversation', async () => {
  const setup = createTestAgent();
  await using runtime = await openRuntime({ agents: [setup.agent] });
  const session = await runtime.session('x');
  await readTurn(session.send('one'));
  const second = session.send('two');
  await readTurn(second);
  await session.rewind({ beforeInvocationId: second.invocationId });
  const fork = await session.fork({ id: 'y' });
  const contents = await readRequest(setup, fork);
  assert.equal(contents.length, 5);
  assert.equal(JSON.stringify(contents).includes('"two"'), false);
});
