import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { agent, sessionWrite } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { content, deriveInvocationId, contentText } from '../../core/index.ts';
import type { LogEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { allOf, net, place, pure } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Session } from './session.ts';
import type { Turn } from './turn.ts';

const rung = place('bell.rung', z.object({ times: z.number().int() }), {
  environment: true,
  version: 1,
});

const bell = net('bell', {
  in: { rung },
  out: { sessionWrite },
  transitions: [
    pure('bell.count', {
      take: { rung },
      give: allOf({ write: sessionWrite }),
      run: ({ rung }) => ({ write: { writes: { increment: { rung: rung.times } } } }),
    }),
  ],
});

const echo = (): Agent =>
  agent({
    name: 'echo',
    extensions: [bell],
    model: new ScriptedModel(({ contents }) => ({
      text: `You said ${contentText(contents.at(-1))}`,
    })),
  });

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

const listTypes = (log: readonly LogEvent[]): readonly string[] => log.map(({ type }) => type);

test('a message counts once, however often it is sent, and every sender sees its one turn', async () => {
  await using runtime = await openRuntime({ agents: [echo()] });
  const session = await runtime.session('x');
  const [first, second] = [
    session.send('hello', { messageId: 'm1' }),
    session.send('hello', { messageId: 'm1' }),
  ];
  assert.equal(await first.accepted, await second.accepted);
  assert.equal(first.invocationId, deriveInvocationId('m1'));
  const [seen, alsoSeen] = await Promise.all([readTurn(first), readTurn(second)]);
  assert.deepEqual(alsoSeen, seen);
  const later = session.send('something else', { messageId: 'm1' });
  assert.equal(await later.accepted, await first.accepted);
  assert.deepEqual(await readTurn(later), seen);
  assert.deepEqual(await readLog(session), seen);
});

test('messages are answered one after another in the order in which they were sent', async () => {
  await using runtime = await openRuntime({ agents: [echo()] });
  const session = await runtime.session('x');
  const turns = Array.from({ length: 20 }, (_, n) => session.send(`message ${n}`));
  assert.deepEqual(
    await Promise.all(turns.map(async ({ accepted }) => accepted)),
    turns.map((_, n) => n + 1),
  );
  const seen = await Promise.all(turns.map(readTurn));
  const log = await readLog(session);
  assert.deepEqual(seen.flat(), log);
  assert.deepEqual(
    log.flatMap((event) => (event.type === 'user.message' ? [contentText(event.content)] : [])),
    turns.map((_, n) => `message ${n}`),
  );
});

test('an accepted message is durable: the next host of the session answers it', async () => {
  const store = new MemoryStore();
  const unresponsive = agent({
    name: 'echo',
    extensions: [bell],
    model: {
      name: 'mute',
      generate: async (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', reject)),
    },
  });
  const first = await openRuntime({ agents: [unresponsive], store });
  const session = await first.session('x');
  session.send('one', { messageId: 'm1' });
  await session.send('two', { messageId: 'm2' }).accepted;
  await first.close();
  await using second = await openRuntime({ agents: [echo()], store });
  const again = await second.session('x');
  await readTurn(again.send('two', { messageId: 'm2' }));
  assert.deepEqual(
    (await readLog(again)).flatMap((event) =>
      event.type === 'agent.message' ? [contentText(event.content)] : [],
    ),
    ['You said one', 'You said two'],
  );
});

test('leaving the iteration cancels nothing, and iterating is optional', async () => {
  await using runtime = await openRuntime({ agents: [echo()] });
  const session = await runtime.session('x');
  for await (const event of session.send('left at once')) {
    if (event.type === 'user.message') break;
  }
  session.send('never looked at');
  await readTurn(session.send('watched'));
  assert.deepEqual((await readLog(session)).filter(({ type }) => type === 'turn.ended').length, 3);
});

test('a turn can be iterated more than once, also long after its end', async () => {
  await using runtime = await openRuntime({ agents: [echo()] });
  const session = await runtime.session('x');
  const turn = session.send('hello');
  const first = await readTurn(turn);
  await readTurn(session.send('another'));
  assert.deepEqual(await readTurn(turn), first);
});

test('an invalid message is rejected before anything is written', async () => {
  await using runtime = await openRuntime({ agents: [echo()] });
  const session = await runtime.session('x');
  const refused = { code: 'invalid_input' };
  assert.throws(() => session.send({ role: 'model', parts: [{ text: 'I am you' }] }), refused);
  assert.throws(() => session.send({ role: 'user', parts: [] }), refused);
  assert.throws(() => session.events(-1), refused);
  assert.throws(() => session.events(1.5), refused);
  const { lastSeq, inboxPending } = await session.status();
  assert.deepEqual([lastSeq, inboxPending], [0, false]);
});

test('a message can have data besides its text', async () => {
  await using runtime = await openRuntime({ agents: [echo()] });
  const session = await runtime.session('x');
  const picture = content('user')
    .text('Look:')
    .inlineData('image/png', new Uint8Array([1, 2, 3]))
    .build();
  const [message] = await readTurn(session.send(picture));
  assert.deepEqual(message?.type === 'user.message' && message.content, picture);
});

test('a state delta is written before the turn begins, and an invalid key or value writes nothing', async () => {
  const seen: unknown[] = [];
  const reader = agent({
    name: 'reader',
    model: new ScriptedModel(() => ({ text: 'ok' })),
    instruction: ({ state }) => {
      seen.push(state);
      return 'x';
    },
  });
  await using runtime = await openRuntime({ agents: [reader] });
  const session = await runtime.session('x');
  const log = await readTurn(session.send('hi', { stateDelta: { tone: 'kind', 'temp:once': 1 } }));
  assert.deepEqual(seen, [{ tone: 'kind', 'temp:once': 1 }]);
  const [changed] = log.flatMap((event) => (event.type === 'state.changed' ? [event.delta] : []));
  assert.deepEqual(changed, { tone: 'kind' });
  for (const stateDelta of [{ '': 1 }, { ['k'.repeat(300)]: 1 }, { 'a/b': 1 }]) {
    assert.throws(
      () => session.send('hi', { stateDelta }),
      { code: /invalid/ },
      JSON.stringify(stateDelta),
    );
  }
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  for (const value of [() => 1, Number.NaN, cyclic, 1n]) {
    assert.throws(() => session.send('hi', { stateDelta: { key: value as never } }), {
      code: 'not_serialisable',
    });
  }
  assert.equal((await readLog(session)).length, log.length);
});

test('a limit of model calls that is not a whole number is refused with the message', async () => {
  await using runtime = await openRuntime({ agents: [echo()] });
  const session = await runtime.session('x');
  for (const maxLlmCalls of ['5', 2.5, null])
    assert.throws(() => session.send('hi', { runConfig: { maxLlmCalls } }), {
      code: 'invalid_input',
      field: 'runConfig.maxLlmCalls',
      message: /must be a whole number, or 0 for no limit; it is /,
    });
  assert.equal((await readLog(session)).length, 0);
  assert.equal(await session.ask('hi', { runConfig: { maxLlmCalls: 1 } }), 'You said hi');
});

test('a signal is injected once per key, by name or by place, and an invalid signal is rejected before it is written', async () => {
  await using runtime = await openRuntime({ agents: [echo()] });
  const session = await runtime.session('x');
  assert.equal((await session.inject(rung, { times: 2 }, { dedupeKey: 'a' })).duplicate, false);
  assert.equal(
    (await session.inject('bell.rung', { times: 2 }, { dedupeKey: 'a' })).duplicate,
    true,
  );
  await session.inject('bell.rung', { times: 3 }, { dedupeKey: 'b' });
  for await (const event of session.events()) {
    if (event.type === 'state.changed' && event.delta['rung'] === 5) break;
  }
  const before = await session.status();
  await assert.rejects(session.inject('bell.cracked', {}, { dedupeKey: 'c' }), {
    code: 'unknown_place',
    place: 'bell.cracked',
  });
  // A place that is not an input place is rejected like an unknown one.
  await assert.rejects(session.inject('turn.permit', null, { dedupeKey: 'c' }), {
    code: 'unknown_place',
  });
  await assert.rejects(session.inject(rung, { times: 'twice' }, { dedupeKey: 'c' }), {
    code: 'token_schema',
  });
  assert.deepEqual(await session.status(), before);
});

test('the log of a turn with an empty answer is complete', async () => {
  const mute = agent({ name: 'mute', model: new ScriptedModel([{}]) });
  await using runtime = await openRuntime({ agents: [mute] });
  const session = await runtime.session('x');
  assert.deepEqual(listTypes(await readTurn(session.send('hi'))), [
    'user.message',
    'turn.started',
    'agent.message',
    'turn.ended',
  ]);
});

test('an input that is too large is rejected before anything is written', async () => {
  const calls: string[] = [];
  const store = new (class extends MemoryStore {
    override inject: MemoryStore['inject'] = async (...args) => {
      calls.push(args[2]);
      return super.inject(...args);
    };
  })();
  const helper = agent({ name: 'a', model: new ScriptedModel([{ text: 'Short enough.' }]) });
  await using runtime = await openRuntime({ agents: [helper], store, maxInputBytes: 1_000 });
  const session = await runtime.session('x');
  const tooLarge = { code: 'input_too_large', field: 'message', limitBytes: 1_000 };
  assert.throws(() => session.send('x'.repeat(1_001)), tooLarge);
  assert.throws(() => session.answer('c', { text: 'x'.repeat(1_001) }), { field: 'response' });
  assert.deepEqual(calls, []);
  await session.send('x'.repeat(700)).accepted;
  assert.equal(calls.length, 1);
  await assert.rejects(openRuntime({ agents: [helper], maxInputBytes: -1 }), {
    code: 'invalid_input',
  });
});

test('a message that is neither text nor content is rejected, and the error names the parameter', async () => {
  await using runtime = await openRuntime({ agents: [echo()] });
  const session = await runtime.session('s');
  for (const [value, kind] of [
    [undefined, 'undefined'],
    [null, 'null'],
    [5, 'number'],
    [[], 'a list'],
  ] as const)
    assert.throws(
      () => session.send(value as unknown as string),
      new RegExp(
        `^InvalidInputError: message: must be text, or content such as .*it is ${kind}\\.`,
      ),
    );
});
