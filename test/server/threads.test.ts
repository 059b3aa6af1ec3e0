import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { isFunctionResponsePart, contentText } from '../../src/core/index.ts';
import type { ModelScript } from '../../src/models/index.ts';
import { deploy } from './conformance-cases.ts';
import { userMessage, openServerFixture } from './server-fixture.ts';
import type { ServerFixture } from './server-fixture.ts';

/** The lead calls a poet and a critic; the critic deploys first. */
const leadScript: ModelScript = ({ contents }) => {
  const results = contents.flatMap(({ parts }) => parts.filter(isFunctionResponsePart));
  const message = contentText(contents[0] ?? { role: 'user', parts: [] });
  if (results.length > 0)
    return { text: results.map((one) => JSON.stringify(one.functionResponse.response)).join(' ') };
  if (message === 'Ask')
    return {
      toolCalls: [
        { name: 'Poet', args: { request: 'a line' } },
        { name: 'Critic', args: { request: 'deploy' } },
      ],
    };
  return message === 'deploy'
    ? { toolCalls: [{ name: 'deploy', args: { path: 'x' } }] }
    : { text: `Here is ${message}.` };
};

async function openLeadSession({ client: { beta } }: ServerFixture): Promise<string> {
  const model = 'gemini-2.5-flash';
  const poet = await beta.agents.create({ name: 'Poet', model });
  const critic = await beta.agents.create({ name: 'Critic', model, tools: [deploy] });
  const lead = await beta.agents.create({
    name: 'Lead',
    model,
    multiagent: {
      type: 'coordinator',
      agents: [poet.id, { type: 'agent', id: critic.id, version: 1 }],
    },
  });
  assert.deepEqual(lead.multiagent, {
    type: 'coordinator',
    agents: [
      { type: 'agent', id: poet.id, version: 1 },
      { type: 'agent', id: critic.id, version: 1 },
    ],
  });
  const renamed = await beta.agents.update(lead.id, { version: 1, name: 'Leader' });
  assert.deepEqual(
    renamed.multiagent,
    lead.multiagent,
    'a field that is not in the update is kept',
  );
  const environment = await beta.environments.create({ name: 'Here' });
  return (await beta.sessions.create({ agent: lead.id, environment_id: environment.id })).id;
}

test('a session has its own thread and one thread for each agent that it calls', async () => {
  await using on = await openServerFixture(leadScript);
  const { sessions } = on.client.beta;
  const session = await openLeadSession(on);
  const [sessionThread] = (await sessions.threads.list(session)).data;
  assert.deepEqual(
    [sessionThread?.parent_thread_id, sessionThread?.status, getAgentName(sessionThread)],
    [null, 'idle', 'Leader'],
  );

  await sessions.events.send(session, { events: [userMessage('Ask')] });
  const toolUse = await parkedCall(on, session);
  const stream = await sessions.threads.events.stream(
    toolUse.thread,
    { session_id: session },
    { headers: { 'Last-Event-ID': toolUse.id } },
  );
  await sessions.events.send(session, {
    events: [
      {
        type: 'user.custom_tool_result',
        custom_tool_use_id: toolUse.id,
        content: [{ type: 'text', text: 'deployed' }],
      },
    ],
  });
  const streamed: string[] = [];
  for await (const event of stream) {
    streamed.push(event.type);
    if (event.type === 'session.status_idle' && event.stop_reason.type === 'end_turn') break;
  }
  assert.ok(streamed.includes('user.custom_tool_result') && streamed.includes('agent.message'));

  const end = await waitForEnd(on, session);
  assert.match(end, /Here is a line\..*deployed/);
  const threads: string[] = [];
  for await (const thread of sessions.threads.list(session, { limit: 1 })) {
    threads.push(getAgentName(thread));
    assert.deepEqual(await sessions.threads.retrieve(thread.id, { session_id: session }), thread);
    if (thread.id === sessionThread?.id) continue;
    assert.equal(thread.parent_thread_id, sessionThread?.id);
    const { data } = await sessions.threads.events.list(thread.id, { session_id: session });
    assert.equal(data[0]?.type, 'user.message');
  }
  assert.deepEqual(threads.toSorted(), ['Critic', 'Leader', 'Poet']);
  await assert.rejects(sessions.threads.list(session, { page: 'zz' }), {
    status: 400,
    message: /page: is not a next_page of this list\. Start the list again without page\./,
  });
  await assert.rejects(sessions.list({ page: 'zz' }), { status: 400, message: /page: is not a/ });
  const [, child] = await on.runtime.threads(session);
  await assert.rejects(
    sessions.retrieve(child?.id ?? ''),
    { status: 404 },
    'a thread is not a session',
  );
  const events = await sessions.threads.events.list(sessionThread?.id ?? '', {
    session_id: session,
    limit: 1000,
  });
  assert.deepEqual(events.data, (await sessions.events.list(session, { limit: 1000 })).data);
});

test('a pending call of a thread is shown in its session, which waits for it and accepts its result', async () => {
  await using on = await openServerFixture(leadScript);
  const { sessions } = on.client.beta;
  const session = await openLeadSession(on);
  const stream = await sessions.events.stream(session);
  await sessions.events.send(session, { events: [userMessage('Ask')] });
  let use: { readonly id: string; readonly session_thread_id?: string | null } | undefined;
  for await (const event of stream) {
    if (event.type === 'agent.custom_tool_use') use = event;
    if (event.type !== 'session.status_idle') continue;
    assert.ok(event.stop_reason.type === 'requires_action' && use !== undefined);
    assert.deepEqual(event.stop_reason.event_ids, [use.id]);
    break;
  }
  const { thread } = await parkedCall(on, session);
  assert.equal(use?.session_thread_id, thread);
  assert.equal((await sessions.retrieve(session)).status, 'idle');
  const [call] = await on.runtime.pending(session);
  assert.deepEqual([call?.name, call?.path], ['deploy', ['Critic']]);
  const answer = (text: string) => ({
    type: 'user.custom_tool_result' as const,
    custom_tool_use_id: use?.id ?? '',
    content: [{ type: 'text' as const, text }],
  });
  await sessions.events.send(session, { events: [answer('deployed')] });
  assert.match(await waitForEnd(on, session), /Here is a line\..*deployed/);
  // A repeated equal result is accepted; a different one is rejected.
  await sessions.events.send(session, { events: [answer('deployed')] });
  await assert.rejects(sessions.events.send(session, { events: [answer('not deployed')] }), {
    status: 400,
  });
  const { data } = await sessions.events.list(session, { limit: 1000 });
  const ids = data.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
});

test('a worker with a session key can answer neither a call of a thread nor a call of an agent', async () => {
  await using on = await openServerFixture(leadScript, { server: { keys: 'required' } });
  on.client.apiKey = (await on.server.keys.create('default', 'test')).token;
  const { sessions } = on.client.beta;
  const session = await openLeadSession(on);
  await sessions.events.send(session, { events: [userMessage('Ask')] });
  await parkedCall(on, session);
  const [wait, agents] = await waitForThreadCall(on, session);
  const scope = { type: 'session', environmentId: 'env_none', sessionId: session } as const;
  const { token } = await on.server.keys.create('default', 'worker', { scope });
  const worker = new Anthropic({ baseURL: on.url, apiKey: null, authToken: token, maxRetries: 0 });
  const before = await on.log(session);
  const answer = async (id: string, refusal: { readonly status: number }): Promise<void> => {
    for (const event of [
      { type: 'user.custom_tool_result', custom_tool_use_id: id },
      { type: 'user.tool_result', tool_use_id: id },
    ] as const)
      await assert.rejects(
        worker.beta.sessions.events.send(session, { events: [event] }),
        refusal,
        id,
      );
  };
  const [call] = await on.runtime.pending(session);
  for (const id of [wait, call?.callId ?? '']) await answer(id, { status: 403 });
  // Clients cannot answer these calls, because the called agents do.
  for (const id of agents) await answer(id, { status: 400 });
  assert.deepEqual(await on.log(session), before);
});

test('a thread can be interrupted or archived without ending its session', async () => {
  await using on = await openServerFixture(leadScript);
  const { sessions } = on.client.beta;
  const session = await openLeadSession(on);
  await sessions.events.send(session, { events: [userMessage('Ask')] });
  const { thread } = await parkedCall(on, session);
  const archived = await sessions.threads.archive(thread, { session_id: session });
  assert.equal(archived.status, 'terminated');
  assert.match(await waitForEnd(on, session), /Here is a line/);
  const sessionThreadId = (await sessions.threads.list(session)).data[0]?.id ?? '';
  await assert.rejects(sessions.threads.archive(sessionThreadId, { session_id: session }), {
    status: 400,
  });

  const other = await openLeadSession(on);
  await sessions.events.send(other, { events: [userMessage('Ask')] });
  const parked = await parkedCall(on, other);
  await sessions.events.send(other, {
    events: [{ type: 'user.interrupt', session_thread_id: parked.thread }],
  });
  assert.match(await waitForEnd(on, other), /Here is a line/);
  await assert.rejects(
    sessions.events.send(other, {
      events: [{ type: 'user.interrupt', session_thread_id: thread }],
    }),
    { status: 404 },
  );
  await assert.rejects(sessions.threads.retrieve(thread, { session_id: other }), { status: 404 });
});

function getAgentName(thread: { readonly agent: object } | undefined): string {
  return thread !== undefined && 'name' in thread.agent ? String(thread.agent.name) : '';
}

/** The call of a thread that waits for its result, as the thread shows it. */
async function parkedCall(
  { client: { beta } }: ServerFixture,
  session: string,
): Promise<{ readonly id: string; readonly thread: string }> {
  for (;;) {
    for (const { id: thread } of (await beta.sessions.threads.list(session)).data) {
      const { data } = await beta.sessions.threads.events.list(thread, { session_id: session });
      const use = data.find((event) => event.type === 'agent.custom_tool_use');
      if (use?.type === 'agent.custom_tool_use' && use.session_thread_id == null)
        return { id: use.id, thread };
    }
  }
}

/** The call of a thread that the session shows and waits for, and the calls of agents with their ids and events. */
async function waitForThreadCall(
  { client: { beta }, log }: ServerFixture,
  session: string,
): Promise<readonly [wait: string, agents: readonly string[]]> {
  for (;;) {
    const { data } = await beta.sessions.events.list(session, { limit: 1000 });
    const last = data.at(-1);
    if (last?.type !== 'session.status_idle' || last.stop_reason.type !== 'requires_action')
      continue;
    const toolCalls = (await log(session)).filter((event) => event.type === 'tool.call');
    const toolUses = data.filter((event) => event.type === 'agent.tool_use');
    return [
      last.stop_reason.event_ids[0] ?? '',
      [...toolCalls.map(({ callId }) => callId), ...toolUses.map(({ id }) => id)],
    ];
  }
}

/** The last message of a session when its turn ends. */
async function waitForEnd({ client: { beta } }: ServerFixture, session: string): Promise<string> {
  for (;;) {
    const { data } = await beta.sessions.events.list(session, { limit: 1000 });
    const last = data.at(-1);
    if (last?.type === 'session.status_idle' && last.stop_reason.type === 'end_turn')
      return JSON.stringify(data.findLast(({ type }) => type === 'agent.message'));
  }
}
