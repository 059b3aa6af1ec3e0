import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { getFunctionResponses } from '../../core/index.ts';
import type { Content, LogEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Session } from './session.ts';
import type { Turn } from './turn.ts';

const ask = tool({
  name: 'ask',
  description: 'Asks the manager.',
  longRunning: true,
  execute: () => ({ status: 'pending' }),
});

/** Calls the tool for a text, and repeats results. */
const model = (): ScriptedModel =>
  new ScriptedModel(({ contents }) => {
    const last = contents.at(-1);
    return last?.role === 'tool'
      ? { text: JSON.stringify(getFunctionResponses(last).map(({ response }) => response)) }
      : { toolCalls: [{ name: 'ask' }] };
  });

const desk = (identity: boolean): Agent =>
  agent({ name: 'desk', model: model(), identity, tools: [ask] });

async function readTurn(turn: Turn): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = [];
  for await (const event of turn) if ('seq' in event) events.push(event);
  return events;
}

/** Starts a session whose agent has asked. Returns the call. */
async function openAsked(session: Session): Promise<string> {
  const events = await readTurn(session.send('Refund?'));
  const [message] = events.flatMap((event) => (event.type === 'agent.message' ? [event] : []));
  assert.equal(events.at(-1)?.type, 'turn.ended');
  return message?.longRunningToolIds?.[0] ?? assert.fail('the call is long-running');
}

const resultMessage = (id: string): Content => ({
  role: 'user',
  parts: [{ functionResponse: { id, name: 'forged', response: { status: 'no' } } }],
});

test('a later result starts a turn, in which the model sees it in place of the first one', async () => {
  const store = new MemoryStore();
  let id: string;
  {
    await using runtime = await openRuntime({ agents: [desk(true)], store });
    id = await openAsked(await runtime.session('s'));
  }
  await using runtime = await openRuntime({ agents: [desk(true)], store });
  const session = await runtime.session('s');
  assert.deepEqual(await session.pending(), []);
  assert.equal(await session.answer(id, { status: 'approved' }).text(), '[{"status":"approved"}]');
  const again = session.answer(id, { status: 'approved' });
  assert.equal((await again.receipt).duplicate, true);
  assert.equal(await again.text(), '[{"status":"approved"}]');
  assert.equal(await session.send(resultMessage(id)).text(), '[{"status":"no"}]');
  const names = [];
  for await (const event of session.events(0, { follow: false }))
    if (event.type === 'user.message')
      names.push(...getFunctionResponses(event.content).map(({ name }) => name));
  assert.deepEqual(names, ['ask', 'ask']);
});

test('a later result is refused for a call that does not exist, waits, or was rewound', async () => {
  await using runtime = await openRuntime({ agents: [desk(true)] });
  const session = await runtime.session('s');
  const id = await openAsked(session);
  await assert.rejects(session.answer('call_x', {}).accepted, { code: 'call_not_pending' });
  await assert.rejects(session.send(resultMessage('call_x')).accepted, { code: 'invalid_input' });
  await assert.rejects(session.approve(id).accepted, { code: 'call_not_pending' });
  let invocationId = '';
  for await (const event of session.events(0, { follow: false }))
    if (event.type === 'turn.started') ({ invocationId } = event);
  await session.rewind({ beforeInvocationId: invocationId });
  await readTurn(session.send('Something else.'));
  await assert.rejects(session.answer(id, {}).accepted, { code: 'call_not_pending' });
});

test('without the format of ADK, the turn waits for the result', async () => {
  await using runtime = await openRuntime({ agents: [desk(false)] });
  const session = await runtime.session('s');
  const events = await readTurn(session.send('Refund?'));
  assert.equal(events.at(-1)?.type, 'turn.waiting');
  const [call] = await session.pending();
  assert.deepEqual(call?.request, { status: 'pending' });
  await assert.rejects(session.send(resultMessage(call.id)).accepted, { code: 'invalid_input' });
  assert.equal(await session.answer(call.id, { status: 'yes' }).text(), '[{"status":"yes"}]');
});
