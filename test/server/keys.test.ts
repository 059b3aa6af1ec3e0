import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import { createServer, listen } from '../../src/server/index.ts';
import type { Server, ServerOptions } from '../../src/server/index.ts';
import { openServerFixture } from './server-fixture.ts';
import type { ServerFixture } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';

const params = { name: 'Helper', model: 'gemini-2.5-flash' };

async function getStatus(on: ServerFixture, path: string, headers = {}): Promise<number> {
  return (await fetch(`${on.url}${path}`, { headers })).status;
}

test('with keys required, every request needs a valid key in either header', async () => {
  await using on = await openServerFixture(scriptedChat, { server: { keys: 'required' } });
  const { key, token } = await on.server.keys.create('blue', 'test');
  for (const path of ['/v1/agents', '/v1/sessions', '/v1/sessions/none/events/stream'])
    assert.equal(await getStatus(on, path), 401, path);
  assert.equal(await getStatus(on, '/health'), 200);
  assert.equal(await getStatus(on, '/openapi.json'), 200);
  assert.equal(await getStatus(on, '/v1/agents', { 'x-api-key': token }), 200);
  assert.equal(await getStatus(on, '/v1/agents', { authorization: `Bearer ${token}` }), 200);
  const almostToken = token.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  for (const invalidToken of [
    almostToken,
    token.slice(0, -1),
    `${token}0`,
    'ptk_',
    '',
    'Bearer',
    key.id,
  ])
    assert.equal(
      await getStatus(on, '/v1/agents', { 'x-api-key': invalidToken }),
      401,
      invalidToken,
    );
  await on.server.keys.revoke(key.id);
  assert.equal(await getStatus(on, '/v1/agents', { 'x-api-key': token }), 401);
});

test('a resource of another workspace is not found by any route', async () => {
  await using on = await openServerFixture(scriptedChat, { server: { keys: 'required' } });
  const blue = (await on.server.keys.create('blue', '')).token;
  const red = (await on.server.keys.create('red', '')).token;
  const client = createClient({ baseUrl: on.url, apiKey: blue });
  const agent = await client.agents.create(params);
  const environment = await client.environments.create({ name: 'Here' });
  const session = await client.sessions.create({ agent: agent.id, environment_id: environment.id });
  await client.sessions.send(session.id, 'secret');
  const document = (await (await fetch(`${on.url}/openapi.json`)).json()) as {
    readonly paths: Readonly<
      Record<string, Readonly<Record<string, { readonly 'x-key-scopes': readonly string[] }>>>
    >;
  };
  const ids: Readonly<Record<string, string>> = {
    agent_id: agent.id,
    environment_id: environment.id,
    session_id: session.id,
    thread_id: session.id,
  };
  let count = 0;
  for (const [path, methods] of Object.entries(document.paths)) {
    if (!path.includes('{')) continue;
    const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'none');
    for (const [method, operation] of Object.entries(methods)) {
      // Routes without workspace keys reject the request before any lookup.
      if (!operation['x-key-scopes'].includes('full')) continue;
      const response = await fetch(`${on.url}${address}`, {
        method: method.toUpperCase(),
        headers: { 'x-api-key': red, 'content-type': 'application/json' },
        ...(method === 'post' && { body: bodyFor(path) }),
      });
      const text = await response.text();
      assert.equal(response.status, 404, `${method} ${path}: ${response.status} ${text}`);
      assert.doesNotMatch(text, /secret/);
      count++;
    }
  }
  assert.ok(count >= 15, `${count}`);
  const other = createClient({ baseUrl: on.url, apiKey: red });
  for await (const found of other.sessions.list()) assert.fail(found.id);
  for await (const found of other.agents.list()) assert.fail(found.id);
  await assert.rejects(other.sessions.create({ agent: agent.id }), { status: 404 });
  assert.equal((await client.sessions.get(session.id)).id, session.id);
});

test('keys are required once a key was created, even if all are revoked', async () => {
  await using on = await openServerFixture(scriptedChat, { server: { keys: 'when-created' } });
  assert.equal(await getStatus(on, '/v1/agents'), 200);
  const { key } = await on.server.keys.create('default', '');
  assert.equal(await getStatus(on, '/v1/agents'), 401);
  await on.server.keys.revoke(key.id);
  assert.equal(await getStatus(on, '/v1/agents'), 401);
});

test('the server listens on a public address only if keys are required and a key exists', async () => {
  await using on = await openServerFixture(scriptedChat);
  const { runtime, store } = on;
  const serve = async (keys: ServerOptions['keys']): Promise<Server> =>
    createServer({ runtime, store, keys });
  const open = { port: 0, hostname: '0.0.0.0' };
  const refused = { code: 'invalid_input', message: /petrichor keys create/ };
  await assert.rejects(listen(await serve('off'), { ...open, keysRequired: false }), refused);
  await assert.rejects(listen(await serve('required'), { ...open, keysRequired: true }), refused);
  const server = await serve('required');
  await server.keys.create('default', '');
  await using listening = await listen(server, { ...open, keysRequired: true });
  assert.equal((await fetch(`http://127.0.0.1:${listening.port}/v1/agents`)).status, 401);
});

test('CORS allows only the configured origins', async () => {
  await using on = await openServerFixture(scriptedChat, {
    server: { allowOrigins: ['https://a.example'] },
  });
  const request = async (method: string, origin: string): Promise<Response> =>
    fetch(`${on.url}/v1/agents`, { method, headers: { origin } });
  const allowed = 'access-control-allow-origin';
  assert.equal((await request('GET', 'https://b.example')).headers.get(allowed), null);
  assert.equal((await request('OPTIONS', 'https://b.example')).status, 403);
  assert.equal(
    (await request('GET', 'https://a.example')).headers.get(allowed),
    'https://a.example',
  );
  const preflight = await request('OPTIONS', 'https://a.example');
  assert.equal(preflight.status, 204);
  assert.match(preflight.headers.get('access-control-allow-methods') ?? '', /POST/);
});

test('each call that may change something is audited with its key id and without secrets', async () => {
  const lines: object[] = [];
  await using on = await openServerFixture(scriptedChat, {
    server: { keys: 'required', audit: (line) => lines.push(line) },
  });
  const { key, token } = await on.server.keys.create('blue', '');
  const client = createClient({ baseUrl: on.url, apiKey: token });
  const agent = await client.agents.create(params);
  await client.agents.get(agent.id);
  await assert.rejects(createClient({ baseUrl: on.url }).agents.create(params), { status: 401 });
  const [createdLine, refusedLine, ...others] = lines as Record<string, unknown>[];
  assert.deepEqual(others, []);
  const { at, requestId, ...entry } = createdLine ?? {};
  assert.equal(typeof at, 'number');
  assert.match(String(requestId), /^req_/);
  const path = '/v1/agents';
  assert.deepEqual(entry, { workspace: 'blue', keyId: key.id, method: 'POST', path, status: 200 });
  assert.equal(refusedLine?.['status'], 401);
  assert.doesNotMatch(JSON.stringify(lines), new RegExp(token.slice(-64)));
});

test('a path is audited percent-encoded, without spaces or control characters', async () => {
  const paths: string[] = [];
  await using on = await openServerFixture(scriptedChat, {
    server: { audit: ({ path }) => paths.push(path) },
  });
  for (const encodedId of [
    'a%0Ab',
    'a%0d%0ab',
    'a%20b',
    'a%E2%80%A8b',
    'a%00b',
    '%25%30%41',
    'é',
    'a%22b',
  ])
    await fetch(`${on.url}/v1/agents/${encodedId}/archive`, { method: 'POST' });
  assert.equal(paths.length, 8);
  for (const path of paths) assert.match(path, /^\/v1\/agents\/[\x21-\x7e]+\/archive$/);
});

/** A valid body, so that only the id can be invalid. */
function bodyFor(path: string): string {
  if (path.endsWith('/events')) return JSON.stringify({ events: [{ type: 'user.interrupt' }] });
  if (path.endsWith('/rewind')) return JSON.stringify({ before_event_id: 'sevt_none' });
  return path.endsWith('/{work_id}') ? JSON.stringify({ metadata: {} }) : '{}';
}
