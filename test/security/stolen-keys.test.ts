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
async function recorder(
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

test('a caller cannot have a key of the server sent to an address of its own', async () => {
  await using elsewhere = await recorder();
  await using at = await openServerWithKeys();
  for (const provider of PROVIDERS) {
    const model = { provider, model: 'm', base_url: `${elsewhere.origin}/v1` };
    const made = await at.post('/v1/agents', { name: 'thief', model });
    assert.equal(made.status, 400, made.text);
    assert.match(made.text, /model\.base_url/);
    assert.match(made.text, /--model-origin/);
  }
  const { id } = await at.client.beta.agents.create({ name: 'a', model: 'gpt-5' });
  const model = { provider: 'openai', model: 'm', base_url: elsewhere.origin };
  const changed = await at.post(`/v1/agents/${id}`, { version: 1, model });
  assert.equal(changed.status, 400, changed.text);
  assert.deepEqual(elsewhere.heads, []);
});

test('a caller does not choose a model on the machine of the server unless the operator lists it', async () => {
  for (const model of ['llama3', { provider: 'ollama', model: 'm' }]) {
    await using at = await openServerWithKeys();
    const made = await at.post('/v1/agents', { name: 'a', model });
    assert.equal(made.status, 400, made.text);
    assert.match(made.text, /--model-origin http:\/\/127\.0\.0\.1:11434/);
    const { id } = await at.client.beta.agents.create({ name: 'b', model: 'gpt-5' });
    const changed = await at.post(`/v1/agents/${id}`, { version: 1, model });
    assert.equal(changed.status, 400, changed.text);
  }
  await using listed = await openServerWithKeys({
    server: { modelOrigins: ['http://127.0.0.1:11434'] },
  });
  const made = await listed.post('/v1/agents', { name: 'a', model: 'llama3' });
  assert.equal(made.status, 200, made.text);
});

test('a path of the operator’s own gateway is not chosen by a caller', async () => {
  await using gateway = await recorder();
  const env = { ...KEYS, OPENAI_BASE_URL: `${gateway.origin}/openai/v1` };
  await using at = await openServerWithKeys({ env });
  const model = { provider: 'openai', model: 'm', base_url: `${gateway.origin}/admin` };
  assert.equal((await at.post('/v1/agents', { name: 'a', model })).status, 400);
  assert.deepEqual(gateway.heads, []);
});

test('an origin that only the runtime lists is for the operator’s own definitions', async () => {
  await using inside = await recorder();
  await using at = await openServerWithKeys({ runtimeOrigins: [inside.origin] });
  const model = { provider: 'openai_compatible', model: 'm', base_url: `${inside.origin}/v1` };
  assert.equal((await at.post('/v1/agents', { name: 'a', model })).status, 400);
  await at.runtime.create({ name: 'a', model });
});

test('an origin that the operator lists is asked, without a key of the environment and without showing its body', async () => {
  await using inside = await recorder();
  const modelOrigins = [inside.origin];
  await using at = await openServerWithKeys({
    runtimeOrigins: modelOrigins,
    server: { modelOrigins },
  });
  const model = { provider: 'openai_compatible', model: 'm', base_url: `${inside.origin}/v1` };
  const made = await at.post('/v1/agents', { name: 'local', model });
  assert.equal(made.status, 200, made.text);
  const { id: agent } = JSON.parse(made.text) as { readonly id: string };
  const session = await at.runtime.startSession(agent, { userId: 'default' });
  await at.client.beta.sessions.events.send(session.id, {
    events: [{ type: 'user.message', content: [{ type: 'text', text: 'Hi' }] }],
  });
  for await (const event of at.runtime.streamLog(session.id, 0))
    if (event.type === 'turn.ended') break;
  assert.equal(inside.heads.length, 1);
  assert.deepEqual(operatorKeysIn(inside.heads), []);
  const shown: unknown[] = [];
  for await (const event of at.client.beta.sessions.events.list(session.id)) shown.push(event);
  assert.doesNotMatch(JSON.stringify(shown), new RegExp(SECRET_BODY));
  const [failure] = at.failures;
  assert.ok(failure !== undefined && failure.message.includes(SECRET_BODY));
  assert.ok(JSON.stringify(shown).includes(failure.reference), JSON.stringify(shown));
});

test('a definition that was stored with a base URL is judged again when it is used', async () => {
  await using elsewhere = await recorder();
  const store = new MemoryStore();
  const model = { provider: 'openai_compatible', model: 'm', base_url: elsewhere.origin };
  const close = store.close.bind(store);
  Object.assign(store, { close: async () => {} });
  let agent: string;
  {
    await using before = await openServerWithKeys({ store, runtimeOrigins: [elsewhere.origin] });
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
  assert.deepEqual(elsewhere.heads, []);
});

const REFERENCES = (origin: string): readonly Parameters<typeof resolveModel>[0][] =>
  PROVIDERS.map((provider) => ({ provider, model: 'm', baseUrl: origin }));

test('a key of the environment is not sent to an origin that it does not belong to', async () => {
  await using elsewhere = await recorder();
  for (const ref of REFERENCES(elsewhere.origin)) {
    const made = await resolveModel(ref, { env: KEYS }).catch((error: unknown) => error);
    if (made instanceof Error) {
      assert.equal('code' in made && made.code, 'missing_key');
      assert.match(made.message, /is sent only to https:\/\//);
    } else await getError(made as Model);
  }
  assert.deepEqual(operatorKeysIn(elsewhere.heads), []);
});

test('a key of the environment goes to the origin that the environment names for its provider', async () => {
  await using gateway = await recorder();
  const variables = ['OPENAI', 'ANTHROPIC', 'GEMINI', 'OPENAI_COMPATIBLE', 'OLLAMA'];
  const named = Object.fromEntries(variables.map((name) => [`${name}_BASE_URL`, gateway.origin]));
  for (const provider of PROVIDERS) {
    const model = await resolveModel({ provider, model: 'm' }, { env: { ...KEYS, ...named } });
    await getError(model);
  }
  assert.equal(operatorKeysIn(gateway.heads).length, PROVIDERS.length);
});

test('a redirect takes no key to another origin', async () => {
  await using elsewhere = await recorder();
  for (const status of [301, 302, 303, 307, 308]) {
    await using gateway = await recorder({ status, location: () => `${elsewhere.origin}/v1` });
    const env = { ...KEYS, OPENAI_BASE_URL: gateway.origin };
    const error = await getError(await resolveModel('gpt-5', { env }));
    assert.equal(error.retryable, false);
    assert.match(error.message, /redirects/);
  }
  assert.deepEqual(elsewhere.heads, []);
});

test('an origin that only a pattern allows is requested at a public address only', async () => {
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

test('a list of origins that holds something else is refused', async () => {
  const ref = { provider: 'openai_compatible', model: 'm', baseUrl: 'http://127.0.0.1:1' } as const;
  for (const entry of ['127.0.0.1', 'http://x/path', 'ftp://x', 'http://a:b@x', '*', 'http://*.x'])
    await assert.rejects(resolveModel(ref, { modelOrigins: [entry] }), { field: 'modelOrigins' });
});
