import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { isFunctionResponsePart, contentText } from '../core/index.ts';
import { ScriptedModel } from '../models/index.ts';
import type { ModelScript } from '../models/index.ts';
import { openManagedRuntime } from './index.ts';
import type { ManagedRuntime } from './index.ts';

/** The lead calls two other agents and combines their answers; a called agent repeats its input. */
const delegate: ModelScript = ({ contents }) => {
  const results = contents.flatMap(({ parts }) => parts.filter(isFunctionResponsePart));
  const text = contentText(contents[0] ?? { role: 'user', parts: [] });
  if (results.length > 0)
    return { text: results.map((one) => JSON.stringify(one.functionResponse.response)).join(' ') };
  if (text === 'Ask')
    return {
      toolCalls: [
        { name: 'Poet', args: { request: 'a line' } },
        { name: 'Critic', args: { request: 'deploy it' } },
      ],
    };
  return text.startsWith('deploy')
    ? { toolCalls: [{ name: 'deploy', args: {} }] }
    : { text: `Here is ${text}.` };
};

async function createLead(runtime: ManagedRuntime): Promise<string> {
  const model = 'gemini-2.5-flash';
  const poet = await runtime.create({ name: 'Poet', model });
  const critic = await runtime.create({
    name: 'Critic',
    model,
    tools: [{ type: 'custom', name: 'deploy', input_schema: { type: 'object' } }],
  });
  const agents = [{ agent_id: poet.id }, { agent_id: critic.id }];
  return (await runtime.create({ name: 'Lead', model, agents })).id;
}

test('two called agents are two threads, and a call of a thread waits for its answer there', async () => {
  await using runtime = await openManagedRuntime({
    resolver: async () => new ScriptedModel(delegate),
  });
  const id = await createLead(runtime);
  const session = await runtime.startSession(id, { userId: 'u' });
  await runtime.sendEvent(session.id, {
    type: 'user.message',
    content: [{ type: 'text', text: 'Ask' }],
  });
  const parked = await parkedThread(runtime, session.id);
  await runtime.sendEvent(parked.thread, {
    type: 'user.custom_tool_result',
    custom_tool_use_id: parked.callId,
    content: [{ type: 'text', text: 'deployed' }],
  });
  for await (const event of runtime.streamLog(session.id, 0))
    if (event.type === 'turn.ended') break;
  const log: string[] = [];
  for await (const event of runtime.streamLog(session.id, 0, { follow: false }))
    if (event.type === 'agent.message') log.push(contentText(event.content));
  assert.match(log.at(-1) ?? '', /Here is a line\..*deployed/);
  const threads = await runtime.threads(session.id);
  assert.equal(threads.length, 2);
  assert.notEqual(threads[0]?.agentId, threads[1]?.agentId);
  for (const thread of threads) {
    assert.equal((await runtime.getSession(thread.id)).owner.userId, 'u');
    const types: string[] = [];
    for await (const event of runtime.streamLog(thread.id, 0, { follow: false }))
      types.push(event.type);
    assert.equal(types.at(-1), 'turn.ended');
  }
  assert.equal((await runtime.listSessions()).data.length, 1, 'threads are not listed as sessions');
  await runtime.deleteSession(session.id);
  await assert.rejects(runtime.getSession(threads[0]?.id ?? ''), { code: 'session_not_found' });
});

async function parkedThread(
  runtime: ManagedRuntime,
  session: string,
): Promise<{ readonly thread: string; readonly callId: string }> {
  for (;;) {
    for (const { id } of await runtime.threads(session)) {
      const [call] = await runtime.pending(id);
      if (call !== undefined) return { thread: id, callId: call.callId };
    }
    await setImmediate();
  }
}

test('called agents keep the versions of the definition, and call no agents themselves', async () => {
  await using runtime = await openManagedRuntime({
    resolver: async () => new ScriptedModel(delegate),
  });
  const id = await createLead(runtime);
  const agent = await runtime.getAgent(id);
  assert.ok(agent.source === 'definition');
  assert.deepEqual(
    agent.definition.agents?.map(({ version }) => version),
    [1, 1],
  );
  const model = 'gemini-2.5-flash';
  await assert.rejects(runtime.create({ name: 'Top', model, agents: [{ agent_id: id }] }), {
    code: 'invalid_input',
    message: /agents\[0\]/,
  });
  await assert.rejects(runtime.create({ name: 'Top', model, agents: [{ agent_id: 'none' }] }), {
    code: 'agent_not_found',
  });
});
