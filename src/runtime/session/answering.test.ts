import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { agent } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { getFunctionResponses } from '../../core/index.ts';
import type { LogEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import type { ScriptedToolCall } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Session } from './session.ts';
import type { Turn } from './turn.ts';

interface TestAgent {
  readonly agent: Agent;
  readonly model: ScriptedModel;
  readonly removed: string[];
}

/** An agent with a tool that needs approval, and a tool that is answered from outside. */
function createTestAgent(...toolCalls: readonly ScriptedToolCall[]): TestAgent {
  const removed: string[] = [];
  const remove = tool({
    name: 'remove',
    description: 'Removes.',
    parameters: z.object({ path: z.string() }),
    needsApproval: true,
    execute: ({ path }) => {
      removed.push(path);
      return { removed: path };
    },
  });
  const ask = tool({ name: 'ask', description: 'Asks a person.', timeoutMs: 60_000 });
  const model = new ScriptedModel(({ contents }) =>
    contents.at(-1)?.role === 'user' ? { toolCalls } : { text: 'Done.' },
  );
  return { removed, model, agent: agent({ name: 'careful', tools: [remove, ask], model }) };
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

const listTypes = (log: readonly LogEvent[]): readonly string[] => log.map(({ type }) => type);
const listOutcomes = (log: readonly LogEvent[]): readonly string[] =>
  log.flatMap((event) => (event.type === 'tool.result' ? [event.outcome] : []));

/** The results in the last model request, in the order of the calls. */
function readPromptResults({ model }: TestAgent): readonly unknown[] {
  const content = model.requests.at(-1)?.contents.at(-1) ?? assert.fail('the model was not asked');
  return getFunctionResponses(content).map(({ response }) => response);
}

const removal = { name: 'remove', args: { path: 'a' } };

test('a call that needs approval waits, has all details in its event, and runs once when approved', async () => {
  const { agent, removed } = createTestAgent(removal);
  await using runtime = await openRuntime({ agents: [agent] });
  const session = await runtime.session('x');
  const waiting = await readTurn(session.send('go'));
  assert.equal(waiting.at(-1)?.type, 'turn.waiting');
  const [call, ...more] = await session.pending();
  assert.deepEqual(more, []);
  assert.deepEqual(removed, []);
  const { id, callId, name, args, needs, reason, invocationId } = call ?? assert.fail();
  assert.deepEqual(
    { name, args, needs, reason },
    { name: 'remove', args: { path: 'a' }, needs: 'approval', reason: 'policy' },
  );
  assert.equal(id, callId);
  assert.equal((await session.status()).status, 'waiting');
  const turn = session.approve(callId);
  const rest = await readTurn(turn);
  assert.deepEqual(listTypes(rest), [
    'turn.resumed',
    'tool.answered',
    'tool.result',
    'agent.message',
    'turn.ended',
  ]);
  await turn.accepted;
  assert.equal(turn.invocationId, invocationId);
  assert.deepEqual(removed, ['a']);
  assert.deepEqual(await session.pending(), []);
  assert.equal((await session.status()).status, 'idle');
});

test('a denied call does not run, and the model gets the reason', async () => {
  const setup = createTestAgent(removal);
  await using runtime = await openRuntime({ agents: [setup.agent] });
  const session = await runtime.session('x');
  await readTurn(session.send('go'));
  const [call] = await session.pending();
  const log = await readTurn(session.deny(call?.id ?? '', { message: 'Not that one.' }));
  assert.deepEqual(listOutcomes(log), ['denied']);
  assert.deepEqual(setup.removed, []);
  assert.match(JSON.stringify(readPromptResults(setup)), /denied.*Not that one\./);
});

test('a call answered from outside gets that result, including an error', async () => {
  for (const [response, options, expected, outcome] of [
    ['blue', {}, { result: 'blue' }, 'ok'],
    [{ colour: 'blue' }, {}, { colour: 'blue' }, 'ok'],
    [{ why: 'gone' }, { isError: true }, { why: 'gone' }, 'error'],
  ] as const) {
    const setup = createTestAgent({ name: 'ask' });
    await using runtime = await openRuntime({ agents: [setup.agent] });
    const session = await runtime.session('x');
    await readTurn(session.send('go'));
    const [call] = await session.pending();
    assert.equal(call?.needs, 'result');
    const log = await readTurn(session.answer(call.id, response, options));
    assert.deepEqual(listOutcomes(log), [outcome]);
    assert.deepEqual(readPromptResults(setup), [expected]);
  }
});

test('a result that is not JSON is refused, and the call keeps waiting for one that is', async () => {
  const setup = createTestAgent({ name: 'ask' });
  await using runtime = await openRuntime({ agents: [setup.agent] });
  const session = await runtime.session('x');
  await readTurn(session.send('go'));
  const [call] = await session.pending();
  const id = call?.id ?? '';
  const error = { code: 'not_serialisable', message: /^response\.price is NaN/ };
  assert.throws(() => session.answer(id, { price: Number.NaN }), error);
  await assert.rejects(async () => session.submitResultEarly(id, { price: Number.NaN }), error);
  await assert.rejects(async () => session.update(id, { price: Number.NaN }), {
    code: 'not_serialisable',
  });
  assert.equal((await session.pending()).length, 1);
  await readTurn(session.answer(id, { price: 5 }));
  assert.deepEqual(readPromptResults(setup), [{ price: 5 }]);
});

test('of two results at once the second is refused, and the error names the call', async () => {
  const setup = createTestAgent({ name: 'ask' });
  await using runtime = await openRuntime({ agents: [setup.agent] });
  const session = await runtime.session('x');
  await readTurn(session.send('go'));
  const id = (await session.pending())[0]?.id ?? '';
  const [first, second] = [session.answer(id, 'red'), session.answer(id, 'blue')];
  await first.accepted;
  const refusal = { code: 'already_answered', callId: id, message: new RegExp(`"${id}"`) };
  await assert.rejects(second.accepted, refusal);
  await session.submitResultEarly('early', 'red');
  await assert.rejects(session.submitResultEarly('early', 'blue'), { callId: 'early' });
});

test('two pending calls are answered separately, and the turn continues after both', async () => {
  const setup = createTestAgent(removal, { name: 'ask' }, { name: 'remove', args: { path: 'b' } });
  await using runtime = await openRuntime({ agents: [setup.agent] });
  const session = await runtime.session('x');
  await readTurn(session.send('go'));
  const [a, ask, b] = await session.pending();
  await readTurn(session.approve(b?.id ?? ''));
  assert.equal((await session.pending()).length, 2);
  await readTurn(session.answer(ask?.id ?? '', 'x'));
  const log = await readTurn(session.deny(a?.id ?? ''));
  assert.equal(log.at(-1)?.type, 'turn.ended');
  assert.deepEqual(setup.removed, ['b']);
  // The results are in the order of the calls, not of the answers.
  assert.deepEqual(
    readPromptResults(setup).map((expected) => Object.keys(Object(expected))[0]),
    ['error', 'result', 'removed'],
  );
});

test('a second answer to a call is rejected, from any runtime and at any time', async () => {
  const setup = createTestAgent(removal);
  await using runtime = await openRuntime({ agents: [setup.agent] });
  const session = await runtime.session('x');
  await readTurn(session.send('go'));
  const [call] = await session.pending();
  const id = call?.id ?? '';
  const answers = [session.approve(id), session.deny(id), session.approve(id)];
  const outcomes = await Promise.allSettled(answers.map(async ({ accepted }) => accepted));
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected'],
  );
  await readTurn(answers[0] ?? assert.fail());
  await assert.rejects(session.approve(id).accepted, { code: 'already_answered', callId: id });
  await assert.rejects(session.deny(id).accepted, { code: 'already_answered' });
  // Iterating the turn throws the same error.
  await assert.rejects(readTurn(session.approve(id)), { code: 'already_answered' });
  assert.deepEqual(setup.removed, ['a']);
});

test('an invalid answer is rejected, and the call still waits', async () => {
  const setup = createTestAgent(removal, { name: 'ask' });
  await using runtime = await openRuntime({ agents: [setup.agent] });
  const session = await runtime.session('x');
  await assert.rejects(session.approve('call_1').accepted, { code: 'call_not_pending' });
  await readTurn(session.send('go'));
  const [remove, ask] = await session.pending();
  const removeId = remove?.id ?? assert.fail();
  const askId = ask?.id ?? assert.fail();
  await assert.rejects(session.approve('call_1').accepted, { code: 'call_not_pending' });
  await assert.rejects(session.approve(removeId, { fingerprint: 'another' }).accepted, {
    code: 'invalid_input',
  });
  await assert.rejects(session.answer(removeId, 'done').accepted, { code: 'invalid_input' });
  await assert.rejects(session.approve(askId).accepted, { code: 'invalid_input' });
  assert.equal((await session.pending()).length, 2);
  await readTurn(session.approve(removeId, { fingerprint: remove?.fingerprint ?? '' }));
  const log = await readTurn(session.answer(askId, 'yes'));
  assert.deepEqual(listTypes(log).slice(-2), ['agent.message', 'turn.ended']);
  assert.ok((await readLog(session)).every(({ type }) => type !== 'error'));
});

test('an answer to a call that has ended is rejected, and the session still works', async () => {
  const setup = createTestAgent({ name: 'ask' });
  await using runtime = await openRuntime({ agents: [setup.agent] });
  const session = await runtime.session('x');
  await readTurn(session.send('go'));
  const [call] = await session.pending();
  await session.interrupt();
  for await (const event of session.events()) if (event.type === 'turn.ended') break;
  await assert.rejects(session.answer(call?.id ?? '', 'late').accepted, {
    code: 'call_not_pending',
  });
  assert.equal((await readTurn(session.send('again'))).at(-1)?.type, 'turn.waiting');
});

test('an approval has no timeout; a call answered from outside has the timeout of its tool', async () => {
  const clock = new SimulatedClock(1_000);
  const setup = createTestAgent(removal, { name: 'ask' });
  await using runtime = await openRuntime({ agents: [setup.agent], clock });
  const session = await runtime.session('x');
  await readTurn(session.send('go'));
  clock.advance(59_999);
  await waitForSettled();
  assert.equal((await session.pending()).length, 2);
  const watching = (async () => {
    for await (const event of session.events()) if (event.type === 'tool.result') return event;
    return assert.fail();
  })();
  clock.advance(1);
  assert.equal((await watching).outcome, 'timeout');
  clock.advance(365 * 86_400_000);
  await waitForSettled();
  const [left, ...more] = await session.pending();
  assert.deepEqual([left?.name, more.length], ['remove', 0]);
  await readTurn(session.approve(left?.id ?? ''));
  assert.match(JSON.stringify(readPromptResults(setup)[1]), /timeout/);
});

test('a wait that timed out while the session had no owner ends when the session gets an owner', async () => {
  const clock = new SimulatedClock(1_000);
  const store = new MemoryStore();
  const setup = createTestAgent({ name: 'ask' });
  const first = await openRuntime({ agents: [setup.agent], clock, store });
  await readTurn((await first.session('x')).send('go'));
  await first.close();
  clock.advance(60_000);
  await using second = await openRuntime({ agents: [setup.agent], clock, store });
  // The session is not opened: a due timer is enough for a claim.
  const session = (await second.find('x')) ?? assert.fail();
  for await (const event of session.events()) if (event.type === 'turn.ended') break;
  assert.deepEqual(listOutcomes(await readLog(session)), ['timeout']);
});

test('a message sent while a turn waits is answered after that turn', async () => {
  const setup = createTestAgent(removal);
  await using runtime = await openRuntime({ agents: [setup.agent] });
  const session = await runtime.session('x');
  await readTurn(session.send('one'));
  const [call] = await session.pending();
  const second = session.send('two');
  await second.accepted;
  assert.equal((await session.pending()).length, 1);
  await readTurn(session.approve(call?.id ?? ''));
  const log = await readTurn(second);
  assert.deepEqual(listTypes(log).slice(0, 2), ['user.message', 'turn.started']);
  assert.equal(log.at(-1)?.type, 'turn.waiting');
});

test('a waiting call survives the runtime, and any runtime can answer it', async () => {
  const store = new MemoryStore();
  const setup = createTestAgent(removal);
  const first = await openRuntime({ agents: [setup.agent], store });
  await readTurn((await first.session('x')).send('go'));
  await first.close();
  await using second = await openRuntime({ agents: [setup.agent], store });
  const session = (await second.find('x')) ?? assert.fail();
  const [call] = await session.pending();
  const log = await readTurn(session.approve(call?.id ?? ''));
  assert.equal(log.at(-1)?.type, 'turn.ended');
  assert.deepEqual(setup.removed, ['a']);
});

async function waitForSettled(): Promise<void> {
  for (let n = 0; n < 20; n++) await new Promise(setImmediate);
}

test('a message queued behind a waiting turn yields that wait, and gets its turn later', async () => {
  const { agent: assistant } = createTestAgent({ name: 'ask', args: {} });
  await using runtime = await openRuntime({ agents: [assistant] });
  const session = await runtime.session('s1');
  await readTurn(session.send('First'));
  const [call] = await session.pending();
  assert.ok(call !== undefined);

  const second = session.send('Second');
  const events = await readTurn(second);
  assert.deepEqual(
    events.map((event) => (event.type === 'turn.waiting' ? event.callIds : event.type)),
    [[call.callId]],
  );
  // Iterating again, or sending the message again, yields the wait again. The message counts once.
  assert.deepEqual(await readTurn(second), events);
  assert.deepEqual(await readTurn(session.send('Second', { messageId: 'm2' })), events);
  assert.deepEqual(await readTurn(session.send('Second', { messageId: 'm2' })), events);

  await readTurn(session.answer(call.callId, 'Yes.'));
  const kept = await readTurn(second);
  assert.deepEqual([kept[0]?.type, kept.at(-1)?.type], ['user.message', 'turn.waiting']);
  for (const event of kept)
    assert.equal('invocationId' in event && event.invocationId, second.invocationId);
  const messages = (await readLog(session)).filter(({ type }) => type === 'user.message');
  assert.equal(messages.length, 2);
});

test('a message that is sent again long after other turns waited yields its own turn', async () => {
  const { agent: assistant, model } = createTestAgent({ name: 'ask', args: {} });
  await using runtime = await openRuntime({ agents: [assistant] });
  const session = await runtime.session('s1');
  await readTurn(session.send('First'));
  await readTurn(session.answer((await session.pending())[0]?.callId ?? '', 'Yes.'));
  const sent = await readTurn(session.send('Second', { messageId: 'm2' }));
  assert.equal(sent.at(-1)?.type, 'turn.waiting');
  assert.deepEqual(
    listTypes(await readTurn(session.send('Second', { messageId: 'm2' }))),
    listTypes(sent),
  );
  assert.ok(model.requests.length > 0);
});

test('a message behind a turn that is interrupted, or whose answer is rejected, neither hangs nor is lost', async () => {
  const { agent: assistant } = createTestAgent({ name: 'remove', args: { path: 'x' } });
  await using runtime = await openRuntime({ agents: [assistant] });
  const session = await runtime.session('s1');
  const first = session.send('First');
  await readTurn(first);
  const [call] = await session.pending();
  assert.ok(call !== undefined);

  // The call waits for an approval and gets a result: that answer is in the inbox when the message is sent.
  const wrong = { callId: call.callId, decision: 'answered', response: { result: 1 } } as const;
  await session.inject('answer.in', wrong, { dedupeKey: 'wrong' });
  const second = session.send('Second');
  const events = await readTurn(second);
  assert.deepEqual(
    events.map((event) => (event.type === 'turn.waiting' ? event.callIds : event.type)),
    [[call.callId]],
  );
  await session.interrupt();
  const third = await readTurn(second);
  assert.deepEqual([third[0]?.type, third.at(-1)?.type], ['user.message', 'turn.waiting']);
  assert.ok((await readLog(session)).some(({ type }) => type === 'turn.ended'));
});
