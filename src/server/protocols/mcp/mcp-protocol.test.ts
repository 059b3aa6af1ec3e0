import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ClientOptions } from '@modelcontextprotocol/client';
import { agent } from '../../../agents/index.ts';
import { isFunctionResponsePart } from '../../../core/index.ts';
import { ScriptedModel } from '../../../models/index.ts';
import type { ModelScript } from '../../../models/index.ts';
import { openRuntime } from '../../../runtime/index.ts';
import { MemoryStore } from '../../../store/index.ts';
import { tool } from '../../../tools/index.ts';
import { createServer } from '../../create-server.ts';
import type { Server } from '../../create-server.ts';

/** Erases twice for `erase`, then tells the results; otherwise repeats the message. */
const script: ModelScript = ({ contents }) => {
  const user = contents.findLastIndex(({ role }) => role === 'user');
  const part = contents[user]?.parts[0];
  const text = part !== undefined && 'text' in part ? part.text : '';
  const done = contents.slice(user).filter(({ parts }) => parts.some(isFunctionResponsePart));
  if (text === 'erase' && done.length < 2) return { toolCalls: [{ name: 'erase', args: {} }] };
  return { text: `Done: ${text}` };
};

interface Opened extends AsyncDisposable {
  readonly server: Server;
  readonly ran: string[];
}

async function open(store = new MemoryStore()): Promise<Opened> {
  const ran: string[] = [];
  const erase = tool({
    name: 'erase',
    description: 'Erases.',
    parameters: { type: 'object', properties: {} },
    needsApproval: true,
    execute: () => {
      ran.push('erase');
      return { ok: true };
    },
  });
  const model = new ScriptedModel(script);
  const runtime = await openRuntime({
    agents: [agent({ name: 'cleaner', model, tools: [erase], description: 'Erases things.' })],
    store,
  });
  const server = await createServer({ runtime, keys: 'when-created', protocols: ['mcp'] });
  return {
    server,
    ran,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await runtime.close();
    },
  };
}

interface Connected extends AsyncDisposable {
  readonly client: Client;
}

async function connect(
  { server }: Opened,
  { key, ...options }: ClientOptions & { readonly key?: string } = {},
): Promise<Connected> {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: 'auto' }, ...options },
  );
  const transport = new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
    fetch: async (url, init) => server.fetch(new Request(url, init)),
    requestInit: { headers: key === undefined ? {} : { 'x-api-key': key } },
  });
  await client.connect(transport);
  return { client, [Symbol.asyncDispose]: async () => client.close() };
}

interface Structured {
  readonly session_id: string;
  readonly status: string;
  readonly text: string;
  readonly waits?: readonly { readonly call_id: string }[];
}

async function call({ client }: Connected, args: object): Promise<Structured> {
  const result = await client.callTool({ name: 'cleaner', arguments: { ...args } });
  assert.ok(result.structuredContent !== undefined, JSON.stringify(result));
  return result.structuredContent as unknown as Structured;
}

async function fail({ client }: Connected, args: object, message: RegExp): Promise<void> {
  const { isError, content } = await client.callTool({ name: 'cleaner', arguments: { ...args } });
  assert.equal(isError, true);
  assert.match(JSON.stringify(content), message);
}

const elicits: ClientOptions = {
  capabilities: { elicitation: { form: {} } },
  inputRequired: { autoFulfill: false },
};

test('each agent is a tool with a structured result; a message with the same id counts once', async () => {
  await using opened = await open();
  await using connected = await connect(opened);
  const { tools } = await connected.client.listTools();
  assert.deepEqual(
    tools.map(({ name, description }) => [name, description?.split('\n')[0]]),
    [['cleaner', 'Erases things.']],
  );
  const first = await call(connected, { message: 'Hi', message_id: 'm1' });
  assert.deepEqual(first, { session_id: first.session_id, status: 'completed', text: 'Done: Hi' });
  assert.deepEqual(await call(connected, { message: 'Hi', message_id: 'm1' }), first);
  const second = await call(connected, { message: 'Bye', session_id: first.session_id });
  assert.deepEqual([second.session_id, second.text], [first.session_id, 'Done: Bye']);
  const other = await call(connected, { message: 'Hi' });
  assert.notEqual(other.session_id, first.session_id);
  await fail(connected, {}, /message: is missing/);
  await fail(connected, { answers: [{ call_id: 'x' }], session_id: 's' }, /approved, or result/);
  await fail(connected, { answers: [{ call_id: 'x', approved: true }], session_id: 's' }, /x/);
  await fail(connected, { interrupt: true, session_id: 'none' }, /names no session/);
});

test('a client without elicitation gets what waits, and answers in another call; an answer counts once', async () => {
  await using opened = await open();
  await using connected = await connect(opened);
  const first = await call(connected, { message: 'erase' });
  assert.equal(first.status, 'waiting');
  const { session_id } = first;
  const [{ call_id }] = first.waits as readonly [{ readonly call_id: string }];
  const answers = [{ call_id, approved: true }];
  const second = await call(connected, { session_id, answers });
  assert.equal(second.status, 'waiting');
  assert.deepEqual(await call(connected, { session_id, answers }), second);
  assert.deepEqual(opened.ran, ['erase']);
  const stopped = await call(connected, { session_id, interrupt: true });
  assert.equal(stopped.status, 'interrupted');
  assert.equal((await call(connected, { session_id, interrupt: true })).status, 'completed');
  assert.deepEqual(opened.ran, ['erase']);
});

test('a question to the client outlives the server that asked it', async () => {
  const store = new MemoryStore();
  const params = { name: 'cleaner', arguments: { message: 'erase', session_id: 's1' } };
  interface Asking {
    readonly inputRequests: Readonly<Record<string, unknown>>;
    readonly requestState: string;
  }
  const ask = async (opened: Opened, more: object): Promise<unknown> => {
    await using connected = await connect(opened, elicits);
    return await connected.client.callTool({ ...params, ...more }, { allowInputRequired: true });
  };
  let asking: Asking;
  {
    await using opened = await open(store);
    asking = (await ask(opened, {})) as Asking;
  }
  await using opened = await open(store);
  const answer = async (
    { inputRequests, requestState }: Asking,
    response: object,
  ): Promise<unknown> => {
    const [id = ''] = Object.keys(inputRequests);
    return ask(opened, { inputResponses: { [id]: response }, requestState });
  };
  const accept = { action: 'accept', content: { approved: true } };
  const next = (await answer(asking, accept)) as Asking;
  assert.deepEqual(opened.ran, ['erase']);
  // The answer again, because its response was lost: the second call is not approved by it.
  assert.deepEqual(await answer(asking, accept), next);
  assert.deepEqual(opened.ran, ['erase']);
  const left = (await answer(next, { action: 'cancel' })) as {
    readonly structuredContent: Structured;
  };
  assert.equal(left.structuredContent.status, 'waiting');
  const ended = (await answer(next, { action: 'decline' })) as {
    readonly structuredContent: Structured;
  };
  assert.equal(ended.structuredContent.status, 'completed');
  assert.deepEqual(opened.ran, ['erase']);
});

test('a page of another host or origin is refused while no key is required', async () => {
  await using opened = await open();
  const post = async (url: string, headers: Readonly<Record<string, string>>): Promise<number> => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
    const request = new Request(url, { ...init, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' });
    return (await opened.server.fetch(request)).status;
  };
  const url = 'http://localhost/mcp';
  assert.equal(await post('http://rebound.example/mcp', {}), 403);
  assert.equal(await post(url, { origin: 'https://evil.example' }), 403);
  assert.notEqual(await post(url, { origin: 'http://localhost' }), 403);
  const { status } = await opened.server.fetch(new Request(url));
  assert.equal(status, 405);
});

test('a session and its log belong to one workspace', async () => {
  await using opened = await open();
  const [one, two] = [
    (await opened.server.keys.create('one', 'test')).token,
    (await opened.server.keys.create('two', 'test')).token,
  ];
  await assert.rejects(connect(opened));
  await using own = await connect(opened, { key: one });
  await using other = await connect(opened, { key: two });
  const message = { message: 'Secret', session_id: 's/1' };
  await call(own, message);
  const { resources } = await own.client.listResources();
  const [{ uri }] = resources as unknown as readonly [{ readonly uri: string }];
  assert.equal(uri, 'petrichor://sessions/s%2F1/log');
  assert.match(JSON.stringify(await own.client.readResource({ uri })), /Secret/);
  const rest = await own.client.readResource({ uri: `${uri}?after=2` });
  assert.doesNotMatch(JSON.stringify(rest), /user\.message/);
  assert.deepEqual((await other.client.listResources()).resources, []);
  await assert.rejects(other.client.readResource({ uri }), /not found/);
  assert.equal((await call(other, { ...message, message: 'Mine' })).text, 'Done: Mine');
  assert.doesNotMatch(JSON.stringify(await other.client.readResource({ uri })), /Secret/);
});
