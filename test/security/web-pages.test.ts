import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/net/index.ts';
import { Metrics } from '../../src/server/index.ts';
import type { ServerOptions } from '../../src/server/index.ts';
import { openServerFixture } from '../server/server-fixture.ts';
import type { ServerFixture } from '../server/server-fixture.ts';
import { scriptedChat } from '../server/scripted-chat.ts';
import { pathWith, rawRequest, servedRoutes } from './served-routes.ts';
import { RecordingStore } from './recording-store.ts';

const json = { 'content-type': 'application/json' };

interface VictimServer extends AsyncDisposable {
  readonly store: RecordingStore;
  readonly on: ServerFixture;
  readonly ids: Readonly<Record<string, string>>;
}

/** A server without keys that has one resource of each kind. */
async function openVictimServer(server: Partial<ServerOptions> = {}): Promise<VictimServer> {
  const store = new RecordingStore();
  const on = await openServerFixture(scriptedChat, {
    store,
    server: {
      metrics: new Metrics(systemClock),
      webhooks: { allowHosts: ['127.0.0.1:9'] },
      ...server,
    },
  });
  const { beta } = on.client;
  const agent = await beta.agents.create({ name: 'Secret', model: 'gemini-2.5-flash' });
  const place = await beta.environments.create({ name: 'Here' });
  const session = await beta.sessions.create({ agent: agent.id, environment_id: place.id });
  const webhook = await on.client.post<{ id: string }>('/v1/webhooks', {
    body: { url: 'http://127.0.0.1:9/', events: [] },
  });
  const schedule = await on.client.post<{ id: string }>('/v1/schedules', {
    body: { agent: agent.id, message: 'Go', cron: '0 0 1 1 *' },
  });
  const threads = await beta.sessions.threads.list(session.id);
  const ids = {
    agent_id: agent.id,
    environment_id: place.id,
    session_id: session.id,
    schedule_id: schedule.id,
    webhook_id: webhook.id,
    thread_id: threads.data[0]?.id ?? '',
  };
  return { on, ids, store, [Symbol.asyncDispose]: async () => on[Symbol.asyncDispose]() };
}

/** Headers that pages of other sites make a browser send, by what is wrong with them. */
function hostileHeaders(port: string): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const host = `127.0.0.1:${port}`;
  return {
    'a name that resolves here': { host: `evil.test:${port}` },
    'a name that resolves here, with its own page': {
      host: `evil.test:${port}`,
      origin: `http://evil.test:${port}`,
      'sec-fetch-site': 'same-origin',
    },
    'a name that begins like ours': { host: `127.0.0.1.evil.test:${port}` },
    'a name that ends like ours': { host: `evil-localhost:${port}` },
    'the address of all interfaces': { host: `0.0.0.0:${port}` },
    'a private address': { host: `10.0.0.1:${port}` },
    'not a host: a user before it': { host: `127.0.0.1@evil.test:${port}` },
    'not a host: a path': { host: 'evil.test/127.0.0.1' },
    'a foreign page': { host, origin: 'http://evil.test' },
    'a foreign page on our port': { host, origin: `http://evil.test:${port}` },
    'a page without an origin': { host, origin: 'null' },
    'a page of another port': { host, origin: 'http://127.0.0.1:1' },
    'a page under another name of this machine': { host, origin: `http://localhost:${port}` },
    'an origin that begins like ours': { host, origin: `http://127.0.0.1:${port}.evil.test` },
    'an origin with a user': { host, origin: `http://evil.test@127.0.0.1:${port}` },
    'a file or an extension': { host, origin: 'chrome-extension://evil' },
    'a plain read by a foreign page': { host, 'sec-fetch-site': 'cross-site' },
    'a plain read by a page of another port': { host, 'sec-fetch-site': 'same-site' },
  };
}

test('without keys, every route rejects requests of another origin or host, and nothing changes', async () => {
  await using fixture = await openVictimServer();
  const { on, ids, store } = fixture;
  const before = await store.fingerprint();
  const routes = await servedRoutes(on.url);
  const { port } = new URL(on.url);
  for (const { name, method, path } of routes)
    for (const [what, headers] of Object.entries(hostileHeaders(port))) {
      const body = method === 'POST' ? '{}' : '';
      const address = pathWith(path, ids);
      const reply = await rawRequest(on.url, method, {
        path: address,
        headers: { ...json, ...headers },
        body,
      });
      // An invalid host is refused before the other headers are read.
      if (reply.status === 400 && what.startsWith('not a host')) continue;
      assert.equal(reply.status, 403, `${name} for ${what}: ${reply.text}`);
      assert.match(reply.text, /"(host|origin)_not_allowed"/, `${name} for ${what}`);
    }
  assert.deepEqual(await store.fingerprint(), before);
});

test('without keys, unknown routes and preflight requests of another origin are rejected too', async () => {
  await using fixture = await openVictimServer({ allowOrigins: ['https://app.example'] });
  const { url } = fixture.on;
  const host = `evil.test:${new URL(url).port}`;
  for (const [method, path] of [
    ['GET', '/'],
    ['GET', '/v1/nothing'],
    ['PUT', '/v1/agents'],
    ['HEAD', '/v1/agents'],
    ['OPTIONS', '/v1/agents'],
  ] as const) {
    const origins = [{ host }, { host, origin: 'https://app.example' }, { origin: 'https://b.c' }];
    for (const headers of origins) {
      const { status } = await rawRequest(url, method, { path, headers });
      assert.equal(status, 403, `${method} ${path} ${JSON.stringify(headers)}`);
    }
  }
});

test('without keys, every route answers loopback hosts, their own pages, and configured hosts and origins', async () => {
  await using fixture = await openVictimServer({
    allowOrigins: ['https://app.example'],
    allowHosts: ['agents.internal', '*.lan'],
  });
  const { on, ids } = fixture;
  const { port } = new URL(on.url);
  const allowedHeaders = [
    { host: `127.0.0.1:${port}` },
    { host: `LocalHost:${port}` },
    { host: `[::1]:${port}` },
    { host: 'localhost.' },
    { host: `127.0.0.1:${port}`, origin: `http://127.0.0.1:${port}` },
    { host: `localhost:${port}`, origin: `http://localhost:${port}` },
    { host: `127.0.0.1:${port}`, 'sec-fetch-site': 'same-origin' },
    { host: `127.0.0.1:${port}`, 'sec-fetch-site': 'none' },
    { host: `127.0.0.1:${port}`, origin: 'https://app.example', 'sec-fetch-site': 'cross-site' },
    { host: 'agents.internal' },
    { host: `agents.internal:${port}` },
    { host: 'box.lan', origin: 'https://box.lan' },
  ];
  for (const { name, method, path } of await servedRoutes(on.url)) {
    // Routes that remove resources would leave nothing for later requests.
    if (method !== 'GET') continue;
    for (const headers of allowedHeaders) {
      const reply = await rawRequest(on.url, method, { path: pathWith(path, ids), headers });
      assert.ok([200, 404].includes(reply.status), `${name} ${JSON.stringify(headers)}`);
    }
  }
});

for (const keys of ['off', 'required'] as const)
  test(`with keys ${keys}, every route rejects a body that is not declared as JSON, and nothing changes`, async () => {
    await using fixture = await openVictimServer();
    const { ids, store } = fixture;
    await using strict = await openServerFixture(scriptedChat, { store, server: { keys } });
    const { token: full } = await strict.server.keys.create('default', 'test');
    const { token: operator } = await strict.server.keys.create('default', 'operator', {
      scope: { type: 'operator' },
    });
    const { token: importer } = await strict.server.keys.create('default', 'importer', {
      scope: { type: 'import' },
    });
    const before = await store.fingerprint();
    const types = [
      undefined,
      'text/plain',
      'text/plain;charset=UTF-8',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/plain; application/json',
      'application/jsonp',
      'application/json, text/plain',
    ];
    for (const { name, method, path } of await servedRoutes(strict.url)) {
      if (method !== 'POST') continue;
      const token = path.startsWith('/v1/operator')
        ? operator
        : path === '/v1/imports'
          ? importer
          : full;
      const body = path === '/v1/imports' ? 'application/x-ndjson' : 'application/json';
      for (const type of types) {
        const reply = await rawRequest(strict.url, method, {
          path: pathWith(path, ids),
          headers: { 'x-api-key': token, ...(type !== undefined && { 'content-type': type }) },
          body: '{}',
        });
        assert.equal(reply.status, 415, `${name} as ${type}: ${reply.text}`);
        assert.match(reply.text, new RegExp(body));
      }
      const validHeaders = {
        'x-api-key': token,
        'content-type': `${body.replace('application/json', 'Application/JSON')}; charset=utf-8`,
      };
      const none = pathWith(path, {});
      const reply = await rawRequest(strict.url, method, {
        path: none,
        headers: validHeaders,
        body: '[]',
      });
      assert.notEqual(reply.status, 415, name);
    }
    assert.deepEqual(await store.fingerprint(), before);
  });

test('with keys required, the Host and Origin headers are not checked', async () => {
  await using on = await openServerFixture(scriptedChat, { server: { keys: 'required' } });
  const { token } = await on.server.keys.create('default', 'test');
  const headers = { host: 'agents.example', origin: 'https://agents.example', 'x-api-key': token };
  assert.equal((await rawRequest(on.url, 'GET', { path: '/v1/agents', headers })).status, 200);
  const health = { host: 'agents.example' };
  assert.equal((await rawRequest(on.url, 'GET', { path: '/health', headers: health })).status, 200);
});

test('an allowed origin that a browser could not send is rejected when the server is created', async () => {
  for (const origin of ['https://app.example/', 'app.example', '*', 'https://App.example'])
    await assert.rejects(openServerFixture(scriptedChat, { server: { allowOrigins: [origin] } }), {
      code: 'invalid_input',
      field: 'allowOrigins',
    });
  await assert.rejects(
    openServerFixture(scriptedChat, {
      server: { allowOrigins: ['https://a:hunter2@app.example'] },
    }),
    (error: Error) => !error.message.includes('hunter2'),
  );
});

test('an invalid Host header gets 400, an invalid retry count is ignored, and neither is reported as a server error', async () => {
  for (const keys of ['off', 'required'] as const) {
    const errors: unknown[] = [];
    await using on = await openServerFixture(scriptedChat, {
      server: { keys, onError: (error) => errors.push(error) },
    });
    for (const host of ['127.0.0.256', '1.127.0.0.1'])
      for (const path of ['/v1/agents', '/health', '/none'])
        assert.equal((await rawRequest(on.url, 'GET', { path, headers: { host } })).status, 400);
    const { token } = await on.server.keys.create('default', 'test');
    for (const count of ['Infinity', '1e999', '-1', '0x10', 'many']) {
      const { status, text } = await rawRequest(on.url, 'POST', {
        path: '/v1/agents',
        headers: {
          'x-api-key': token,
          'content-type': 'application/json',
          'x-stainless-retry-count': count,
        },
        body: JSON.stringify({ name: 'A', model: 'gemini-2.5-flash' }),
      });
      assert.equal(status, 200, text);
    }
    assert.deepEqual(errors, []);
  }
});
