import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import type { Json, JsonObject, LogEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { pending, tool } from '../../tools/index.ts';
import type { Tool, ToolAnswer } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Session } from './session.ts';
import type { Turn } from './turn.ts';

/** An agent that calls its only tool once, then answers. */
const createCaller = (one: Tool): Agent =>
  agent({
    name: 'caller',
    tools: [one],
    model: new ScriptedModel(({ contents }) =>
      contents.at(-1)?.role === 'user'
        ? { toolCalls: [{ name: one.name, args: {} }] }
        : { text: 'Done.' },
    ),
  });

async function readTurn(turn: Turn): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = [];
  for await (const event of turn) if ('seq' in event) events.push(event);
  return events;
}

const listTypes = (log: readonly LogEvent[]): readonly string[] => log.map(({ type }) => type);
const listResults = (log: readonly LogEvent[]): readonly unknown[] =>
  log.flatMap((event) =>
    event.type === 'tool.result' ? [[event.outcome, event.response] as const] : [],
  );

async function waitingCall(session: Session): Promise<{ id: string; request: Json | undefined }> {
  const [call] = await session.pending();
  assert.equal(call?.needs, 'result');
  return { id: call?.id ?? '', request: call?.request };
}

/** A stateless tool that asks for a color, then for a size. */
function createAskingTool(answers: ToolAnswer[]): Tool {
  return tool({
    name: 'order',
    description: 'Orders a shirt.',
    execute: (_args, { answer }) => {
      if (answer === undefined) return pending({ request: 'Which colour?', resume: {} });
      answers.push(answer);
      const { resume, response } = answer;
      const known = { ...Object(resume), ...Object(response) } as JsonObject;
      return 'size' in known ? known : pending({ request: 'Which size?', resume: known });
    },
  });
}

test('a long-running tool parks its call with its first result; updates change it, the answer ends the call', async () => {
  const build = tool({
    name: 'build',
    description: 'Builds.',
    longRunning: true,
    execute: () => ({ ticket: 7 }),
  });
  await using runtime = await openRuntime({ agents: [createCaller(build)] });
  const session = await runtime.session('x');
  const first = await readTurn(session.send('go'));
  assert.deepEqual(listTypes(first).slice(-3), ['tool.call', 'tool.pending', 'turn.waiting']);
  const { id, request } = await waitingCall(session);
  assert.deepEqual(request, { ticket: 7 });

  await session.update(id, { done: '50 %' }, { dedupeKey: 'half' });
  await session.update(id, { done: 'counts once' }, { dedupeKey: 'half' });
  for await (const event of session.events())
    if (event.type === 'tool.pending' && listTypes(first).length < event.seq) break;
  assert.deepEqual((await waitingCall(session)).request, { done: '50 %' });
  assert.equal((await session.status()).status, 'waiting');

  const rest = await readTurn(session.answer(id, { url: 'there' }));
  assert.deepEqual(listResults(rest), [['ok', { url: 'there' }]]);
  assert.equal(rest.at(-1)?.type, 'turn.ended');
  await assert.rejects(session.update(id, 'late'), { code: 'already_answered' });
});

test('a tool that requests input runs again with each answer, in any runtime', async () => {
  const store = new MemoryStore();
  const answers: ToolAnswer[] = [];
  const one = createCaller(createAskingTool(answers));
  {
    await using runtime = await openRuntime({ agents: [one], store });
    const session = await runtime.session('x');
    await readTurn(session.send('go'));
    assert.equal((await waitingCall(session)).request, 'Which colour?');
  }
  {
    await using runtime = await openRuntime({ agents: [one], store });
    const session = await runtime.session('x');
    const { id } = await waitingCall(session);
    const rest = await readTurn(session.answer(id, { colour: 'red' }));
    assert.deepEqual(listTypes(rest), [
      'turn.resumed',
      'tool.answered',
      'tool.pending',
      'turn.waiting',
    ]);
  }
  await using runtime = await openRuntime({ agents: [one], store });
  const session = await runtime.session('x');
  const { id, request } = await waitingCall(session);
  assert.equal(request, 'Which size?');
  await session.update(id, 'news for one who wants an answer');
  for await (const event of session.events())
    if (event.type === 'error' && event.code === 'answer_refused') break;
  const rest = await readTurn(session.answer(id, { size: 'L' }));
  assert.deepEqual(listResults(rest), [['ok', { colour: 'red', size: 'L' }]]);
  assert.deepEqual(answers, [
    { response: { colour: 'red' }, isError: false, resume: {} },
    { response: { size: 'L' }, isError: false, resume: { colour: 'red' } },
  ]);
});

test('a request that is denied ends its call, and the tool does not run again', async () => {
  const answers: ToolAnswer[] = [];
  await using runtime = await openRuntime({ agents: [createCaller(createAskingTool(answers))] });
  const session = await runtime.session('x');
  await readTurn(session.send('go'));
  const { id } = await waitingCall(session);
  const [[outcome]] = listResults(await readTurn(session.deny(id))) as [[string]];
  assert.equal(outcome, 'denied');
  assert.deepEqual(answers, []);
});

test('a request for input ends at its timeout', async () => {
  const ask = tool({
    name: 'ask',
    description: 'Asks.',
    execute: () => pending({ request: 'Now?', timeoutMs: 20_000 }),
  });
  const clock = new SimulatedClock(1_000);
  await using runtime = await openRuntime({ agents: [createCaller(ask)], clock });
  const session = await runtime.session('x');
  await readTurn(session.send('go'));
  clock.advance(20_000);
  for await (const event of session.events()) {
    if (event.type !== 'tool.result') continue;
    assert.equal(event.outcome, 'timeout');
    break;
  }
});

test('a tool that wrote state cannot park, because its writes belong to a result', async () => {
  const odd = tool({
    name: 'odd',
    description: 'Writes and waits.',
    execute: (_args, { state }) => {
      state.set('ticket', 7);
      return pending();
    },
  });
  await using runtime = await openRuntime({ agents: [createCaller(odd)] });
  const log = await readTurn((await runtime.session('x')).send('go'));
  assert.match(JSON.stringify(listResults(log)), /pending_writes/);
});
