import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { createServer } from '../../src/server/index.ts';
import type { Server } from '../../src/server/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import { scriptedChat } from './scripted-chat.ts';

interface Opened extends AsyncDisposable {
  readonly server: Server;
  readonly ran: string[];
}

const PROTOCOLS = ['managed', 'ag-ui', 'ai-sdk', 'openai', 'adk'] as const;

async function open(store = new MemoryStore()): Promise<Opened> {
  const ran: string[] = [];
  const erase = tool({
    name: 'erase',
    description: 'Erases a path.',
    parameters: { type: 'object', properties: { path: { type: 'string' } } },
    needsApproval: true,
    execute: ({ path }) => {
      ran.push(String(path));
      return { erased: path };
    },
  });
  const model = new ScriptedModel(scriptedChat);
  const runtime = await openRuntime({
    agents: [agent({ name: 'assistant', model, tools: [erase] })],
    store,
  });
  const server = await createServer({
    runtime,
    keys: 'when-created',
    protocols: PROTOCOLS,
    limits: { bodyBytes: 20_000 },
  });
  return {
    server,
    ran,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await runtime.close();
    },
  };
}

async function send(
  { server }: Opened,
  line: string,
  body?: object | string,
  key?: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const [method = '', path = ''] = line.split(' ');
  const response = await server.fetch(
    new Request(`http://localhost${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }),
  );
  return { status: response.status, text: await response.text() };
}

test('a session begun over OpenAI, approved over ADK, read over Managed Agents and continued over AI SDK and AG-UI is one log', async () => {
  const store = new MemoryStore();
  await using opened = await open(store);
  const body = { model: 'agent_assistant', conversation: 's1', input: 'call erase a' };
  const begun = await send(opened, 'POST /openai/v1/responses', body);
  assert.match(begun.text, /mcp_approval_request/);
  const ada = '/apps/assistant/users/ada/sessions/s1';
  const session = JSON.parse((await send(opened, `GET ${ada}`)).text) as {
    readonly events: readonly { readonly longRunningToolIds?: readonly string[] }[];
  };
  const [id] = session.events.flatMap(({ longRunningToolIds = [] }) => longRunningToolIds);
  const functionResponse = { id, name: 'adk_request_confirmation', response: { confirmed: true } };
  const approved = await send(opened, 'POST /run', {
    appName: 'assistant',
    userId: 'ada',
    sessionId: 's1',
    newMessage: { role: 'user', parts: [{ functionResponse }] },
  });
  assert.match(approved.text, /Results: /);
  assert.deepEqual(opened.ran, ['a']);
  const message = { id: 'm2', role: 'user', parts: [{ type: 'text', text: 'Hello' }] };
  const continued = await send(opened, 'POST /ai-sdk/agent_assistant', {
    id: 's1',
    messages: [message],
  });
  assert.equal(joinDeltas(continued.text), 'You said: Hello');
  const last = await send(opened, 'POST /ag-ui/agent_assistant', {
    threadId: 's1',
    runId: 'r1',
    messages: [{ id: 'm3', role: 'user', content: 'Bye' }],
  });
  assert.equal(joinDeltas(last.text), 'You said: Bye');
  const read = await send(opened, 'GET /v1/sessions/s1/events?limit=100');
  const { data } = JSON.parse(read.text) as { readonly data: readonly { readonly type: string }[] };
  const count = (type: string): number => data.filter((one) => one.type === type).length;
  // `call erase a`, Hello and Bye; the answers to them; one approval.
  assert.deepEqual([count('user.message'), count('user.tool_confirmation')], [3, 1]);
  assert.deepEqual(opened.ran, ['a']);
});

/** The text that a stream has in pieces. */
function joinDeltas(stream: string): string {
  return [...stream.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta).join('');
}

/** A request of each protocol to a session of another workspace, and one that its schema refuses. */
const REQUESTS: readonly (readonly [string, object])[] = [
  ['GET /openai/v1/conversations/s1', {}],
  ['GET /apps/assistant/users/ada/sessions/s1', {}],
  ['POST /run', { appName: 'assistant', userId: 'ada', sessionId: 's1', newMessage: 'Hi' }],
  ['POST /run_sse', { appName: 'assistant', userId: 'ada', sessionId: 's1', newMessage: 'Hi' }],
  ['PATCH /apps/assistant/users/ada/sessions/s1', { stateDelta: { a: 1 } }],
  ['DELETE /apps/assistant/users/ada/sessions/s1', {}],
  ['GET /apps/assistant/users/ada/sessions/s1/artifacts', {}],
  ['POST /ag-ui/agent_assistant/threads/s1/cancel', {}],
  ['POST /ai-sdk/agent_assistant/s1/stop', {}],
];

test('no protocol shows a session to another workspace, and none answers without a key', async () => {
  await using opened = await open();
  const { token: one } = await opened.server.keys.create('one', 'key');
  const { token: two } = await opened.server.keys.create('two', 'key');
  const begun = { model: 'agent_assistant', conversation: 's1', input: 'Hi' };
  assert.equal((await send(opened, 'POST /openai/v1/responses', begun, one)).status, 200);
  for (const [line, body] of REQUESTS) {
    const own = /^(?:GET|DELETE)/.test(line) ? undefined : body;
    assert.equal((await send(opened, line, own)).status, 401, line);
    const { status, text } = await send(opened, line, own, two);
    assert.equal(status, 404, `${line}: ${text}`);
  }
});

test('every protocol refuses a body that is too large, no JSON, no object, or of a wrong type', async () => {
  await using opened = await open();
  const posts = [
    'POST /openai/v1/responses',
    'POST /openai/v1/chat/completions',
    'POST /run',
    'POST /run_sse',
    'POST /ag-ui/agent_assistant',
    'POST /ai-sdk/agent_assistant',
  ];
  const values: readonly unknown[] = [null, 1, '', 'x', true, [], [null], {}, { a: [] }, -1, '\0'];
  const names = [
    'model',
    'input',
    'messages',
    'newMessage',
    'sessionId',
    'userId',
    'id',
    'threadId',
  ];
  for (const line of posts) {
    const large = await send(opened, line, { input: 'x'.repeat(30_000) });
    assert.equal(large.status, 413, line);
    for (const text of ['{', '[]', '"x"', '1'])
      assert.equal((await send(opened, line, text)).status, 400, `${line} ${text}`);
    for (const name of names)
      for (const value of values) {
        const body = { model: 'agent_assistant', input: 'Hi', sessionId: 's', [name]: value };
        const { status, text } = await send(opened, line, body);
        assert.ok(status < 500, `${line} ${JSON.stringify(body)}: ${status} ${text}`);
        if (status >= 400) assert.match(text, /"message"|"detail"/);
      }
  }
});
