/**
 * Keys, limits and workspaces hold for every route of every protocol. The routes are those of the server's OpenAPI
 * document, so a new protocol is covered when it is in the list of protocols.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Runtime } from '../../src/runtime/index.ts';
import { createServer } from '../../src/server/index.ts';
import type { Server, ServerOptions } from '../../src/server/index.ts';
import { PROTOCOL_NAMES } from '../../src/server/protocol-list.ts';
import type { OpenApiDocument } from './openapi-document.ts';

const SECRET = 'secret-of-a-workspace';
const USER_MESSAGE = { role: 'user', parts: [{ text: 'Hi', type: 'text' }] };

/** The routes that are the same for everyone. */
const PUBLIC = new Set([
  'GET /openapi.json',
  'GET /health',
  'GET /health/live',
  'GET /health/ready',
]);

interface Operation {
  /** `POST /mcp` */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly hasBody: boolean;
  /** The content type of the body. */
  readonly type: string;
}

async function openServer(
  runtime: Runtime,
  options: Partial<ServerOptions> = {},
): Promise<{ readonly server: Server; readonly operations: readonly Operation[] }> {
  const server = await createServer({
    runtime,
    keys: 'required',
    protocols: PROTOCOL_NAMES,
    ...options,
  });
  const { token } = await server.keys.create('reader', 'reader');
  const headers = { 'x-api-key': token };
  const request = new Request('http://localhost/openapi.json', { headers });
  const document = (await (await server.fetch(request)).json()) as OpenApiDocument;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([key, { requestBody }]) => {
      const method = key.toUpperCase();
      const [type = 'application/json'] = Object.keys(requestBody?.content ?? {});
      const hasBody = requestBody !== undefined;
      return { name: `${method} ${path}`, method, path, hasBody, type };
    }),
  );
  return { server, operations };
}

async function openTestRuntime(): Promise<Runtime> {
  const model = new ScriptedModel(() => ({ text: SECRET }));
  return openRuntime({ agents: [agent({ name: 'assistant', model })] });
}

/** Sends a request to a route. Ids that are not named are unknown. */
async function call(
  server: Server,
  { method, path, hasBody, type }: Operation,
  {
    ids = {},
    body = '{}',
    token,
  }: {
    readonly ids?: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly token?: string;
  } = {},
): Promise<Response> {
  const address = path.replaceAll(/\{(\w+)\}/g, (_, id: string) => ids[id] ?? 'none');
  return server.fetch(
    new Request(`http://localhost${address}`, {
      method,
      headers: {
        'content-type': type,
        accept: 'application/json, text/event-stream',
        ...(token !== undefined && { 'x-api-key': token }),
      },
      ...(hasBody && method !== 'GET' && { body }),
    }),
  );
}

test('a request without a key gets 401 on every route', async () => {
  await using runtime = await openTestRuntime();
  const { server, operations } = await openServer(runtime);
  const open: string[] = [];
  for (const operation of operations) {
    const response = await call(server, operation);
    if (response.status !== 401) open.push(operation.name);
    await response.body?.cancel();
  }
  assert.deepEqual(new Set(open), PUBLIC);
  await server.close();
});

test('a body that is too large gets 413, and too many requests get 429, on every route', async () => {
  await using runtime = await openTestRuntime();
  const clock = new SimulatedClock();
  const { server, operations } = await openServer(runtime, {
    clock,
    limits: { bodyBytes: 2000, importBytes: 2000, requestsPerMinute: 1, createsPerMinute: 1 },
    imports: true,
  });
  const large = JSON.stringify({ a: 'x'.repeat(3000) });
  const wrong: string[] = [];
  for (const operation of operations) {
    const { name, hasBody } = operation;
    if (PUBLIC.has(name)) continue;
    const scope = { type: name === 'POST /v1/imports' ? 'import' : 'full' } as const;
    const { token } = await server.keys.create('busy', name, { scope });
    const first = await call(server, operation, { token, body: large });
    if (hasBody && first.status !== 413) wrong.push(`${name}: ${first.status} for a large body`);
    await first.body?.cancel();
    const second = await call(server, operation, { token });
    if (second.status !== 429) wrong.push(`${name}: ${second.status} for the second request`);
    await second.body?.cancel();
  }
  assert.deepEqual(wrong, []);
  await server.close();
});

test('the ids of a workspace reach nothing of it from another workspace, on every route', async () => {
  await using runtime = await openTestRuntime();
  const limits = { requestsPerMinute: 100_000, createsPerMinute: 100_000 };
  const { server, operations } = await openServer(runtime, { limits });
  const [{ token: own }, { token: other }] = [
    await server.keys.create('own', 'a'),
    await server.keys.create('other', 'b'),
  ];
  const find = (name: string): Operation =>
    operations.find((one) => one.name === name) ?? assert.fail(name);
  const message = { id: 'm1', ...USER_MESSAGE };
  const agentIds = { agent_id: 'agent_assistant' };
  const begun = await call(server, find('POST /ai-sdk/{agent_id}'), {
    ids: agentIds,
    token: own,
    body: JSON.stringify({ id: 's1', messages: [message] }),
  });
  assert.match(await begun.text(), new RegExp(SECRET));
  const answered = await call(server, find('POST /openai/v1/responses'), {
    token: own,
    body: JSON.stringify({ model: 'agent_assistant', input: 'Hi', conversation: 's2' }),
  });
  const { id: responseId } = (await answered.json()) as { readonly id: string };
  const readLog = async (): Promise<string> => {
    const events = find('GET /v1/sessions/{session_id}/events');
    return (await call(server, events, { ids: { session_id: 's1' }, token: own })).text();
  };
  const before = await readLog();
  const { invocationId } = await readFirstTurn(runtime);
  const ids = {
    ...agentIds,
    session_id: 's1',
    task: `s1~${invocationId}`,
    app: 'assistant',
    user: 'own',
    response_id: responseId,
  };
  // Members by which some protocol names a session. Those of other protocols are ignored, or refused.
  const body = JSON.stringify({
    id: 's1',
    threadId: 's1',
    runId: 'r1',
    appName: 'assistant',
    userId: 'own',
    sessionId: 's1',
    invocationId,
    newMessage: USER_MESSAGE,
    messages: [],
    model: 'agent_assistant',
    conversation: 's1',
    input: [],
    jsonrpc: '2.0',
    method: 'tasks/get',
    params: { id: ids.task },
  });
  const shown: string[] = [];
  const order = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
  for (const operation of operations.toSorted(
    (one, two) => order.indexOf(one.method) - order.indexOf(two.method),
  ))
    for (const sent of operation.hasBody ? [body, '{}'] : ['{}']) {
      const response = await call(server, operation, { ids, token: other, body: sent });
      const type = response.headers.get('content-type') ?? '';
      // A stream of the server to a client of this workspace: it has no end.
      const isOpen = operation.method === 'GET' && type.startsWith('text/event-stream');
      const text = isOpen ? '' : await response.text();
      if (isOpen) await response.body?.cancel();
      if (text.includes(SECRET)) shown.push(`${operation.name}: ${text.slice(0, 200)}`);
    }
  assert.deepEqual(shown, []);
  assert.equal(await readLog(), before);
  await server.close();
});

async function readFirstTurn(runtime: Runtime): Promise<{ readonly invocationId: string }> {
  const session = await runtime.find('s1', { user: 'own' });
  for await (const event of session?.events(0, { follow: false }) ?? [])
    if (event.type === 'turn.started') return event;
  return assert.fail('no turn');
}
