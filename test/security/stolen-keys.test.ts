import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { openManagedRuntime } from '../../src/managed/index.ts';
import type { ManagedRuntime } from '../../src/managed/index.ts';
import { resolveModel, type Model, type ProviderName } from '../../src/models/index.ts';
import { createServer as createPetrichor, failureLog } from '../../src/server/index.ts';
import type { ServerOptions, SessionFailure } from '../../src/server/index.ts';
import { MemoryStore, type Store } from '../../src/store/index.ts';
import { getError } from '../models/wire-model.ts';

const SECRET_BODY = 'the body of an internal address';

interface Recorder extends AsyncDisposable {
  readonly origin: string;
  readonly heads: readonly IncomingMessage['headers'][];
}

/** An internal HTTP server that records requests and answers each with an error body. */
async function startRecorder(
  answer: { status: number; location?: () => string } = { status: 400 },
): Promise<Recorder> {
  const heads: IncomingMessage['headers'][] = [];
  const server = createServer((request, response) => {
    heads.push(request.headers);
    request.resume();
    if (answer.location !== undefined) response.setHeader('location', answer.location());
    response.setHeader('content-type', 'application/json');
    response.writeHead(answer.status).end(JSON.stringify({ error: { message: SECRET_BODY } }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heads,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

const KEYS = {
  OPENAI_API_KEY: 'sk-operator-openai',
  ANTHROPIC_API_KEY: 'sk-operator-anthropic',
  GEMINI_API_KEY: 'sk-operator-gemini',
  OPENAI_COMPATIBLE_API_KEY: 'sk-operator-compatible',
  OLLAMA_API_KEY: 'sk-operator-ollama',
};

const PROVIDERS: readonly ProviderName[] = [
  'openai',
  'anthropic',
  'gemini',
  'openai_compatible',
  'ollama',
];

function operatorKeysIn(heads: readonly IncomingMessage['headers'][]): readonly string[] {
  const sent = JSON.stringify(heads);
  return Object.values(KEYS).filter((key) => sent.includes(key));
}

interface ServerWithKeys extends AsyncDisposable {
  readonly runtime: ManagedRuntime;
  readonly client: Anthropic;
  readonly failures: readonly SessionFailure[];
  readonly post: (path: string, body: object) => Promise<{ status: number; text: string }>;
}

async function openServerWithKeys(
  options: {
    readonly store?: Store;
    readonly env?: Readonly<Record<string, string>>;
    readonly runtimeOrigins?: readonly string[];
    readonly server?: Partial<ServerOptions>;
  } = {},
): Promise<ServerWithKeys> {
  const { store = new MemoryStore(), env = KEYS, runtimeOrigins } = options;
  const failures: SessionFailure[] = [];
  const runtime = await openManagedRuntime({
    store,
    env,
    modelAttempts: 1,
    observers: [failureLog((failure) => failures.push(failure))],
    ...(runtimeOrigins !== undefined && { modelOrigins: runtimeOrigins }),
  });
  const server = await createPetrichor({ runtime, store, keys: 'off', ...options.server });
  const fetch: typeof globalThis.fetch = async (input, init) =>
    server.fetch(new Request(input, init));
  const base = 'http://127.0.0.1:8787';
  return {
    runtime,
    failures,
    client: new Anthropic({ baseURL: base, apiKey: 'none', fetch, maxRetries: 0 }),
    post: async (path, body) => {
      const response = await fetch(`${base}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: response.status, text: await response.text() };
    },
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await runtime.close();
      await store.close();
    },
  };
}

test('an API caller cannot set a base_url that receives the provider keys of the operator', async () => {
  await using otherOrigin = await startRecorder();
  await using server = await openServerWithKeys();
  for (const provider of PROVIDERS) {
    const model = { provider, model: 'm', base_url: `${otherOrigin.origin}/v1` };
    const response = await server.post('/v1/agents', { name: 'thief', model });
    assert.equal(response.status, 400, response.text);
    assert.match(response.text, /model\.base_url/);
    assert.match(response.text, /--model-origin/);
  }
  const { id } = await server.client.beta.agents.create({ name: 'a', model: 'gpt-5' });
  const model = { provider: 'openai', model: 'm', base_url: otherOrigin.origin };
  const changed = await server.post(`/v1/agents/${id}`, { version: 1, model });
  assert.equal(changed.status, 400, changed.text);
  assert.deepEqual(otherOrigin.heads, []);
});

test('an API caller can use a model on the machine of the server only if the operator lists its origin', async () => {
  for (const model of ['llama3', { provider: 'ollama', model: 'm' }]) {
    await using server = await openServerWithKeys();
    const response = await server.post('/v1/agents', { name: 'a', model });
    assert.equal(response.status, 400, response.text);
    assert.match(response.text, /--model-origin http:\/\/127\.0\.0\.1:11434/);
    const { id } = await server.client.beta.agents.create({ name: 'b', model: 'gpt-5' });
    const changed = await server.post(`/v1/agents/${id}`, { version: 1, model });
    assert.equal(changed.status, 400, changed.text);
  }
  await using listingServer = await openServerWithKeys({
    server: { modelOrigins: ['http://127.0.0.1:11434'] },
  });
  const response = await listingServer.post('/v1/agents', { name: 'a', model: 'llama3' });
  assert.equal(response.status, 200, response.text);
});

test('an API caller cannot choose a path of the gateway of the operator', async () => {
  await using gateway = await startRecorder();
  const env = { ...KEYS, OPENAI_BASE_URL: `${gateway.origin}/openai/v1` };
  await using server = await openServerWithKeys({ env });
  const model = { provider: 'openai', model: 'm', base_url: `${gateway.origin}/admin` };
  assert.equal((await server.post('/v1/agents', { name: 'a', model })).status, 400);
  assert.deepEqual(gateway.heads, []);
});

test('an origin that only the runtime lists is allowed for definitions of the operator, not for API callers', async () => {
  await using internalServer = await startRecorder();
  await using server = await openServerWithKeys({ runtimeOrigins: [internalServer.origin] });
  const model = {
    provider: 'openai_compatible',
    model: 'm',
    base_url: `${internalServer.origin}/v1`,
  };
  assert.equal((await server.post('/v1/agents', { name: 'a', model })).status, 400);
  await server.runtime.create({ name: 'a', model });
});

test('a request to an origin that the operator lists carries no environment key, and its error body is not shown to the caller', async () => {
  await using internalServer = await startRecorder();
  const modelOrigins = [internalServer.origin];
  await using server = await openServerWithKeys({
    runtimeOrigins: modelOrigins,
    server: { modelOrigins },
  });
  const model = {
    provider: 'openai_compatible',
    model: 'm',
    base_url: `${internalServer.origin}/v1`,
  };
  const response = await server.post('/v1/agents', { name: 'local', model });
  assert.equal(response.status, 200, response.text);
  const { id: agent } = JSON.parse(response.text) as { readonly id: string };
  const session = await server.runtime.startSession(agent, { userId: 'default' });
  await server.client.beta.sessions.events.send(session.id, {
    events: [{ type: 'user.message', content: [{ type: 'text', text: 'Hi' }] }],
  });
  for await (const event of server.runtime.streamLog(session.id, 0))
    if (event.type === 'turn.ended') break;
  assert.equal(internalServer.heads.length, 1);
  assert.deepEqual(operatorKeysIn(internalServer.heads), []);
  const shown: unknown[] = [];
  for await (const event of server.client.beta.sessions.events.list(session.id)) shown.push(event);
  assert.doesNotMatch(JSON.stringify(shown), new RegExp(SECRET_BODY));
  const [failure] = server.failures;
  assert.ok(failure !== undefined && failure.message.includes(SECRET_BODY));
  assert.ok(JSON.stringify(shown).includes(failure.reference), JSON.stringify(shown));
});

test('the base_url of a stored definition is checked again at each use', async () => {
  await using otherOrigin = await startRecorder();
  const store = new MemoryStore();
  const model = { provider: 'openai_compatible', model: 'm', base_url: otherOrigin.origin };
  const close = store.close.bind(store);
  Object.assign(store, { close: async () => {} });
  let agent: string;
  {
    await using before = await openServerWithKeys({ store, runtimeOrigins: [otherOrigin.origin] });
    ({ id: agent } = await before.runtime.create({ name: 'old', model }));
  }
  {
    await using now = await openServerWithKeys({ store });
    await assert.rejects(now.runtime.startSession(agent, { userId: 'default' }), {
      code: 'invalid_input',
      field: 'model.base_url',
    });
  }
  await close();
  assert.deepEqual(otherOrigin.heads, []);
});

const listModelRefs = (origin: string): readonly Parameters<typeof resolveModel>[0][] =>
  PROVIDERS.map((provider) => ({ provider, model: 'm', baseUrl: origin }));

test('an environment key is not sent to an origin of another provider', async () => {
  await using otherOrigin = await startRecorder();
  for (const ref of listModelRefs(otherOrigin.origin)) {
    const model = await resolveModel(ref, { env: KEYS }).catch((error: unknown) => error);
    if (model instanceof Error) {
      assert.equal('code' in model && model.code, 'missing_key');
      assert.match(model.message, /is sent only to https:\/\//);
    } else await getError(model as Model);
  }
  assert.deepEqual(operatorKeysIn(otherOrigin.heads), []);
});

test('an environment key is sent to the base URL that the environment sets for its provider', async () => {
  await using gateway = await startRecorder();
  const variables = ['OPENAI', 'ANTHROPIC', 'GEMINI', 'OPENAI_COMPATIBLE', 'OLLAMA'];
  const baseUrls = Object.fromEntries(
    variables.map((name) => [`${name}_BASE_URL`, gateway.origin]),
  );
  for (const provider of PROVIDERS) {
    const model = await resolveModel({ provider, model: 'm' }, { env: { ...KEYS, ...baseUrls } });
    await getError(model);
  }
  assert.equal(operatorKeysIn(gateway.heads).length, PROVIDERS.length);
});

test('a redirect to another origin is not followed and gets no key', async () => {
  await using otherOrigin = await startRecorder();
  for (const status of [301, 302, 303, 307, 308]) {
    await using gateway = await startRecorder({
      status,
      location: () => `${otherOrigin.origin}/v1`,
    });
    const env = { ...KEYS, OPENAI_BASE_URL: gateway.origin };
    const error = await getError(await resolveModel('gpt-5', { env }));
    assert.equal(error.retryable, false);
    assert.match(error.message, /redirects/);
  }
  assert.deepEqual(otherOrigin.heads, []);
});

test('an origin that only a wildcard allows must resolve to a public address', async () => {
  let resolved = 0;
  const model = await resolveModel(
    { provider: 'openai_compatible', model: 'm', baseUrl: 'https://models.example.com/v1' },
    {
      modelOrigins: ['https://*.example.com'],
      resolve: async () => {
        resolved += 1;
        return ['127.0.0.1'];
      },
    },
  );
  const error = await getError(model);
  assert.deepEqual([error.kind, resolved], ['bad_request', 1]);
  assert.match(error.message, /not public/);
  const plain = { provider: 'openai_compatible', model: 'm' } as const;
  for (const baseUrl of ['http://models.example.com', 'https://example.com', 'https://example.org'])
    await assert.rejects(
      resolveModel({ ...plain, baseUrl }, { modelOrigins: ['https://*.example.com'] }),
      { field: 'model.base_url' },
    );
});

test('an entry of modelOrigins that is not an origin is rejected', async () => {
  const ref = { provider: 'openai_compatible', model: 'm', baseUrl: 'http://127.0.0.1:1' } as const;
  for (const entry of ['127.0.0.1', 'http://x/path', 'ftp://x', 'http://a:b@x', '*', 'http://*.x'])
    await assert.rejects(resolveModel(ref, { modelOrigins: [entry] }), { field: 'modelOrigins' });
});
