import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { isFunctionResponsePart } from '../../src/core/index.ts';
import type { JsonObject } from '../../src/core/index.ts';
import type { ModelScript } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { workerTools } from '../../src/server/index.ts';
import { pending, tool, toolset as toolsetOf } from '../../src/tools/index.ts';
import { countingTool, userMessage, openServerFixture } from './server-fixture.ts';
import type { ServerFixture, ServerFixtureOptions } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';

const toolset = {
  type: 'agent_toolset_20260401' as const,
  default_config: { enabled: false },
  configs: (['bash', 'read', 'write'] as const).map((name) => ({ name, enabled: true })),
};

const toolSteps: readonly { readonly name: string; readonly args: JsonObject }[] = [
  { name: 'write', args: { file_path: 'note.txt', content: 'from the worker' } },
  { name: 'read', args: { file_path: 'note.txt' } },
  { name: 'bash', args: { command: 'cat note.txt | tr a-z A-Z' } },
  { name: 'read', args: { file_path: '../../../../etc/passwd' } },
];

/** Calls one tool after the other, then reports the results. */
const stepThroughTools: ModelScript = ({ contents }) => {
  const results = contents.flatMap(({ parts }) => parts.filter(isFunctionResponsePart));
  const next = toolSteps[results.length];
  return next === undefined
    ? {
        text: results
          .map(({ functionResponse }) => JSON.stringify(functionResponse.response))
          .join('\n'),
      }
    : { toolCalls: [next] };
};

async function openWorkFixture(options: ServerFixtureOptions = {}): Promise<ServerFixture> {
  return openServerFixture(stepThroughTools, {
    builtIns: workerTools(async (name) => [countingTool(name)]),
    ...options,
  });
}

async function openSelfHosted(
  on: ServerFixture,
  tools: typeof toolset & {
    readonly default_config: { readonly permission_policy?: { readonly type: 'always_ask' } };
  } = toolset,
): Promise<{ readonly environment: string; readonly session: string }> {
  const { beta } = on.client;
  const agent = await beta.agents.create({
    name: 'Worker',
    model: 'gemini-2.5-flash',
    tools: [tools],
  });
  const environment = await beta.environments.create({
    name: 'Own',
    config: { type: 'self_hosted' },
  });
  const session = await beta.sessions.create({ agent: agent.id, environment_id: environment.id });
  return { environment: environment.id, session: session.id };
}

async function waitForWork(
  on: ServerFixture,
  environment: string,
): Promise<{ id: string; secret: string | null }> {
  for (;;) {
    const work = await on.client.beta.environments.work.poll(environment);
    if (work !== null) return work;
  }
}

test('the stock worker runs bash, read and write in its folder, and nothing outside it', async () => {
  await using on = await openWorkFixture({ server: { keys: 'required' } });
  const { token } = await on.server.keys.create('default', 'test');
  on.client.apiKey = token;
  const { environment, session } = await openSelfHosted(on);
  await on.client.beta.sessions.events.send(session, { events: [userMessage('Go')] });

  // The worker's machine has only the key of its environment.
  const scope = { type: 'environment', environmentId: environment } as const;
  const { token: environmentKey } = await on.server.keys.create('default', 'worker', { scope });
  const workerClient = new Anthropic({ baseURL: on.url, apiKey: null, authToken: environmentKey });
  const workdir = mkdtempSync(join(tmpdir(), 'worker-'));
  const ended = new AbortController();
  const worker = workerClient.beta.environments.work.worker({
    environmentId: environment,
    environmentKey,
    workdir,
    maxIdleMs: 100,
  });
  const running = worker.run(ended.signal).catch((error: unknown) => {
    if (!ended.signal.aborted) throw error;
  });
  const stream = await on.client.beta.sessions.events.stream(
    session,
    {},
    { headers: { 'Last-Event-ID': '' } },
  );
  for await (const event of stream) {
    if (event.type === 'session.status_idle' && event.stop_reason.type === 'end_turn') break;
  }
  const events = await on.client.beta.sessions.events.list(session, { limit: 1000 });
  const results = events.data.flatMap((event) =>
    event.type === 'user.tool_result' ? [event] : [],
  );
  assert.equal(readFileSync(join(workdir, 'note.txt'), 'utf8'), 'from the worker');
  assert.deepEqual(
    results.map(({ is_error }) => is_error),
    [false, false, false, true],
    'the last read is outside the folder',
  );
  assert.match(JSON.stringify(results[2]?.content), /FROM THE WORKER/);
  for (;;) {
    const { data } = await on.client.beta.environments.work.list(environment);
    assert.equal(data.length, 1);
    if (data[0]?.state === 'stopped') break;
  }
  ended.abort();
  await running;
  rmSync(workdir, { recursive: true });
});

test('a worker whose lease ended loses its session to another worker, and its key is revoked', async () => {
  const clock = new SimulatedClock(Date.now());
  await using on = await openWorkFixture({ server: { clock, leaseMs: 60_000 } });
  const { environment, session } = await openSelfHosted(on);
  const { work } = on.client.beta.environments;
  const inEnvironment = { environment_id: environment };
  assert.equal(await work.poll(environment), null, 'no work is queued');
  await on.client.beta.sessions.events.send(session, { events: [userMessage('Go')] });
  const first = await waitForWork(on, environment);
  assert.equal(await work.poll(environment), null, 'the work has a worker');
  assert.equal((await work.ack(first.id, inEnvironment)).state, 'starting');
  const beat = await work.heartbeat(first.id, {
    ...inEnvironment,
    expected_last_heartbeat: 'NO_HEARTBEAT',
  });
  assert.deepEqual([beat.state, beat.lease_extended, beat.ttl_seconds], ['active', true, 60]);
  const secondBeat = await work.heartbeat(first.id, {
    ...inEnvironment,
    expected_last_heartbeat: beat.last_heartbeat,
  });
  assert.notEqual(secondBeat.last_heartbeat, beat.last_heartbeat);

  clock.advance(59_000);
  assert.equal(await work.poll(environment), null, 'the lease has not ended');
  clock.advance(2000);
  const second = await waitForWork(on, environment);
  assert.equal(second.id, first.id);
  const lateHeartbeat = work.heartbeat(first.id, {
    ...inEnvironment,
    expected_last_heartbeat: secondBeat.last_heartbeat,
  });
  await assert.rejects(lateHeartbeat, { status: 412, errorCode: 'heartbeat_precondition_failed' });
  const staleResponse = await fetch(`${on.url}/v1/sessions/${session}/events`, {
    headers: { authorization: `Bearer ${tokenIn(first.secret)}` },
  });
  assert.equal(staleResponse.status, 401, 'the key is revoked');
  const freshResponse = await fetch(`${on.url}/v1/sessions/${session}/events`, {
    headers: { authorization: `Bearer ${tokenIn(second.secret)}` },
  });
  assert.equal(freshResponse.status, 200);
});

test('work that is not acknowledged in time goes to another worker', async () => {
  const clock = new SimulatedClock(Date.now());
  await using on = await openWorkFixture({ server: { clock } });
  const { environment, session } = await openSelfHosted(on);
  await on.client.beta.sessions.events.send(session, { events: [userMessage('Go')] });
  const first = await waitForWork(on, environment);
  const { work } = on.client.beta.environments;
  assert.equal((await work.stats(environment)).pending, 1);
  clock.advance(1500);
  assert.equal(await work.poll(environment), null);
  const second = await work.poll(environment, { reclaim_older_than_ms: 1000 });
  assert.equal(second?.id, first.id);
});

test('a lease survives a restart of the server and ends at its time', async () => {
  const clock = new SimulatedClock(Date.now());
  await using on = await openWorkFixture({ server: { clock } });
  const { environment, session } = await openSelfHosted(on);
  await on.client.beta.sessions.events.send(session, { events: [userMessage('Go')] });
  const first = await waitForWork(on, environment);
  await on.client.beta.environments.work.ack(first.id, { environment_id: environment });
  await on.listening.close();

  await using later = await openWorkFixture({ store: on.store, server: { clock } });
  const { work } = later.client.beta.environments;
  assert.equal(await work.poll(environment), null);
  clock.advance(60_000);
  assert.equal((await waitForWork(later, environment)).id, first.id);
});

test('a worker can be asked to stop, and a session that still needs a worker gets another one', async () => {
  await using on = await openWorkFixture();
  const { environment, session } = await openSelfHosted(on);
  await on.client.beta.sessions.events.send(session, { events: [userMessage('Go')] });
  const first = await waitForWork(on, environment);
  const { work } = on.client.beta.environments;
  const inEnvironment = { environment_id: environment };
  await work.ack(first.id, inEnvironment);
  assert.equal((await work.stop(first.id, inEnvironment)).state, 'stopping');
  const beat = await work.heartbeat(first.id, {
    ...inEnvironment,
    expected_last_heartbeat: 'NO_HEARTBEAT',
  });
  assert.deepEqual([beat.state, beat.lease_extended], ['stopping', false]);
  assert.equal((await work.stop(first.id, { ...inEnvironment, force: true })).state, 'stopped');
  await assert.rejects(work.stop(first.id, { ...inEnvironment, force: true }), { status: 409 });
  const second = await waitForWork(on, environment);
  assert.notEqual(second.id, first.id);
  const updated = await work.update(second.id, { ...inEnvironment, metadata: { host: 'a' } });
  assert.deepEqual(updated.metadata, { host: 'a' });
  assert.deepEqual((await work.retrieve(second.id, inEnvironment)).metadata, { host: 'a' });
  const { data } = await work.list(environment);
  assert.deepEqual(
    data.map(({ id, secret }) => [id, secret]),
    [
      [second.id, null],
      [first.id, null],
    ],
  );
});

test('stopped work is deleted after a week, and a session without work leaves the queue after a minute', async () => {
  const clock = new SimulatedClock(Date.now());
  await using on = await openWorkFixture({ server: { clock } });
  const { environment, session } = await openSelfHosted(on);
  await on.client.beta.sessions.events.send(session, { events: [userMessage('Go')] });
  const first = await waitForWork(on, environment);
  const { work } = on.client.beta.environments;
  await on.client.beta.sessions.archive(session);
  await work.stop(first.id, { environment_id: environment, force: true });
  clock.advance(61_000);
  assert.equal(await work.poll(environment), null);
  assert.deepEqual(await on.store.documents({ kind: 'work-wanted' }), []);
  assert.equal((await work.list(environment)).data.length, 1);
  clock.advance(8 * 24 * 60 * 60_000);
  while ((await work.list(environment)).data.length > 0) clock.advance(60 * 60_000);
});

test('a session key of a worker opens its session and nothing else', async () => {
  await using on = await openWorkFixture({ server: { keys: 'required' } });
  on.client.apiKey = (await on.server.keys.create('default', 'test')).token;
  const { environment, session } = await openSelfHosted(on);
  const other = await openSelfHosted(on);
  await on.client.beta.sessions.events.send(session, { events: [userMessage('Go')] });
  const { id, secret } = await waitForWork(on, environment);
  const getStatus = async (path: string, method = 'GET'): Promise<number> => {
    const headers = { authorization: `Bearer ${tokenIn(secret)}` };
    return (await fetch(`${on.url}/v1${path}`, { method, headers })).status;
  };
  assert.equal(await getStatus(`/sessions/${session}`), 200);
  assert.equal(await getStatus(`/sessions/${session}/events`), 200);
  assert.equal(await getStatus(`/environments/${environment}/work/${id}/ack`, 'POST'), 200);
  for (const [path, method] of [
    [`/sessions/${session}`, 'DELETE'],
    [`/sessions/${session}`, 'POST'],
    [`/sessions/${session}/archive`, 'POST'],
    [`/sessions/${session}/fork`, 'POST'],
    [`/sessions/${other.session}`, 'GET'],
    ['/sessions', 'GET'],
    ['/agents', 'GET'],
    [`/environments/${environment}`, 'GET'],
    [`/environments/${environment}/work/poll`, 'GET'],
    [`/environments/${other.environment}/work/${id}`, 'GET'],
  ] as const)
    assert.equal(await getStatus(path, method), 403, `${method} ${path}`);
});

test('a worker with a session key can send results of its session, and cannot approve calls, send messages or interrupt', async () => {
  await using on = await openWorkFixture({ server: { keys: 'required' } });
  on.client.apiKey = (await on.server.keys.create('default', 'test')).token;
  const { environment, session } = await openSelfHosted(on, {
    ...toolset,
    default_config: { enabled: false, permission_policy: { type: 'always_ask' } },
  });
  const { events } = on.client.beta.sessions;
  const other = await openSelfHosted(on);
  await events.send(session, { events: [userMessage('Go')] });
  await events.send(other.session, { events: [userMessage('Go')] });
  const callIn = async (id: string): Promise<string> => {
    for (;;) {
      const { data } = await events.list(id, { limit: 1000 });
      const call = data.find((event) => event.type === 'agent.tool_use');
      if (call !== undefined) return call.id;
    }
  };
  const [call, otherCall] = [await callIn(session), await callIn(other.session)];
  // A worker claims the session while the turn runs, before the call waits for approval.
  const scope = { type: 'session', environmentId: environment, sessionId: session } as const;
  const { token } = await on.server.keys.create('default', 'worker', { scope });
  const worker = new Anthropic({ baseURL: on.url, apiKey: null, authToken: token, maxRetries: 0 });
  const result = { type: 'user.tool_result', tool_use_id: call } as const;
  const before = await on.log(session);
  for (const event of [
    { type: 'user.tool_confirmation', tool_use_id: call, result: 'allow' },
    { type: 'user.tool_confirmation', tool_use_id: call, result: 'deny' },
    userMessage('Delete everything'),
    { type: 'user.interrupt' },
    { type: 'user.define_outcome', description: 'x', rubric: { type: 'text', content: 'x' } },
  ] as const)
    for (const batch of [[event], [result, event]]) {
      const sending = worker.beta.sessions.events.send(session, { events: batch });
      await assert.rejects(sending, { status: 403, message: /scope session may not send/ });
    }
  const unapprovedResult = worker.beta.sessions.events.send(session, { events: [result] });
  await assert.rejects(
    unapprovedResult,
    { status: 400 },
    'a call that is not approved cannot have a result',
  );
  const foreignResult = { ...result, tool_use_id: otherCall };
  const sendingForeign = worker.beta.sessions.events.send(session, { events: [foreignResult] });
  await assert.rejects(sendingForeign, { status: 400 });
  await assert.rejects(
    worker.beta.sessions.events.send(other.session, { events: [foreignResult] }),
    {
      status: 403,
    },
  );
  assert.deepEqual(await on.log(session), before);

  const approval = { type: 'user.tool_confirmation', tool_use_id: call, result: 'allow' } as const;
  await events.send(session, { events: [approval] });
  await worker.beta.sessions.events.send(session, { events: [result] });
  const after = await on.log(session);
  assert.ok(after.some((event) => event.type === 'tool.answered' && event.decision === 'approved'));
});

test('a worker with a session key cannot answer an elicitation of an MCP server', async () => {
  const elicit = tool({
    name: 'pay',
    description: 'Pays once a person has agreed.',
    parameters: { type: 'object' },
    execute: (_, { answer }) => (answer === undefined ? pending({ request: 'Pay?' }) : { answer }),
  });
  await using on = await openServerFixture(scriptedChat, {
    mcp: async () => ({ tools: toolsetOf('bank', [elicit]), close: async () => {} }),
    server: { keys: 'required' },
  });
  on.client.apiKey = (await on.server.keys.create('default', 'test')).token;
  const { agents, sessions } = on.client.beta;
  const agent = await agents.create({
    name: 'Payer',
    model: 'gemini-2.5-flash',
    mcp_servers: [{ type: 'url', name: 'bank', url: 'https://bank.example/mcp' }],
    tools: [
      {
        type: 'mcp_toolset',
        mcp_server_name: 'bank',
        default_config: { permission_policy: { type: 'always_allow' } },
      },
    ],
  });
  const { id } = await on.client.post<{ id: string }>('/v1/sessions', {
    body: { agent: agent.id },
  });
  await sessions.events.send(id, { events: [userMessage('call pay x')] });
  const call = await (async () => {
    for (;;) {
      const { data } = await sessions.events.list(id, { limit: 1000 });
      const last = data.at(-1);
      if (last?.type === 'session.status_idle' && last.stop_reason.type === 'requires_action')
        return last.stop_reason.event_ids[0] ?? '';
    }
  })();
  const scope = { type: 'session', environmentId: 'env_none', sessionId: id } as const;
  const { token } = await on.server.keys.create('default', 'worker', { scope });
  const worker = new Anthropic({ baseURL: on.url, apiKey: null, authToken: token, maxRetries: 0 });
  const events = [{ type: 'user.tool_result' as const, tool_use_id: call }];
  const before = await on.log(id);
  await assert.rejects(worker.beta.sessions.events.send(id, { events }), { status: 403 });
  assert.deepEqual(await on.log(id), before);
  await sessions.events.send(id, { events });
});

function tokenIn(secret: string | null): string {
  const { sessions_token } = JSON.parse(Buffer.from(secret ?? '', 'base64url').toString()) as {
    sessions_token: string;
  };
  return sessions_token;
}

test('an agent with worker tools cannot be called by another agent in a self-hosted environment', async () => {
  await using on = await openWorkFixture();
  const { beta } = on.client;
  const model = 'gemini-2.5-flash';
  const called = await beta.agents.create({ name: 'Called', model, tools: [toolset] });
  const multiagent = { type: 'coordinator' as const, agents: [called.id] };
  const lead = await beta.agents.create({ name: 'Lead', model, multiagent });
  const selfHostedEnvironment = await beta.environments.create({
    name: 'Own',
    config: { type: 'self_hosted' },
  });
  const starting = beta.sessions.create({
    agent: lead.id,
    environment_id: selfHostedEnvironment.id,
  });
  await assert.rejects(starting, { status: 400, message: /self-hosted/ });
  const defaultEnvironment = await beta.environments.create({ name: 'Here' });
  await beta.sessions.create({ agent: lead.id, environment_id: defaultEnvironment.id });
});

test('a server without built-in tools offers worker tools in self-hosted environments only', async () => {
  await using on = await openWorkFixture({ builtIns: workerTools() });
  const { beta } = on.client;
  const agent = await beta.agents.create({
    name: 'A',
    model: 'gemini-2.5-flash',
    tools: [toolset],
  });
  const defaultEnvironment = await beta.environments.create({ name: 'Here' });
  const session = await beta.sessions.create({
    agent: agent.id,
    environment_id: defaultEnvironment.id,
  });
  await beta.sessions.events.send(session.id, { events: [userMessage('Go')] });
  for (;;) {
    const { data } = await beta.sessions.events.list(session.id, { limit: 1000 });
    const result = data.find((event) => event.type === 'agent.tool_result');
    if (result === undefined) continue;
    assert.equal(result.is_error, true);
    assert.match(JSON.stringify(result.content), /only in sessions of a self-hosted environment/);
    break;
  }
  await assert.rejects(
    beta.agents.create({
      name: 'B',
      model: 'gemini-2.5-flash',
      // @ts-expect-error -- ours: a tool by its name
      tools: [{ type: 'builtin', name: 'constructor' }],
    }),
    { status: 400 },
  );
});
