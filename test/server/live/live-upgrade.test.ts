import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { LiveHub, liveAgent, ScriptedLive } from '../../../src/live/index.ts';
import { createServer } from '../../../src/server/index.ts';
import type { AuditLine, ServerOptions } from '../../../src/server/index.ts';
import { openServerFixture } from '../server-fixture.ts';
import type { ServerFixture } from '../server-fixture.ts';

const PROTOCOL = 'petrichor.live.v1';

interface LiveServer {
  readonly fixture: ServerFixture;
  readonly audit: readonly AuditLine[];
  /** A session of this workspace. */
  readonly start: (workspace?: string) => Promise<string>;
}

async function openLiveServer(server: Partial<ServerOptions> = {}): Promise<LiveServer> {
  const hub = new LiveHub();
  const audit: AuditLine[] = [];
  const model = new ScriptedLive({ turns: [{ heard: 'Hello?', text: 'Hi.' }] });
  const fixture = await openServerFixture(() => ({ text: 'As text.' }), {
    agents: [liveAgent({ name: 'assistant', model })],
    live: hub,
    server: { live: hub, audit: (line) => audit.push(line), ...server },
  });
  return {
    fixture,
    audit,
    start: async (workspace = 'default') =>
      (await fixture.runtime.startSession('agent_assistant', { userId: workspace })).id,
  };
}

async function readRefusal(response: IncomingMessage): Promise<string> {
  const { error } = JSON.parse(await text(response)) as {
    readonly error: { readonly message: string };
  };
  return `${response.statusCode} ${error.message}`;
}

/** Opens a WebSocket. Returns its first message and its close code, or the status that refused it. */
async function tryOpen(
  url: string,
  {
    hello = { type: 'hello' },
    protocol = PROTOCOL,
    headers = {},
  }: { hello?: object; protocol?: string; headers?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), protocol, { headers });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  // `unexpected-response` and `close` follow.
  socket.on('error', () => {});
  socket.on('unexpected-response', (_request, response) => {
    void readRefusal(response).then(resolve, reject);
  });
  socket.on('open', () => socket.send(JSON.stringify(hello)));
  socket.on('message', (data) => {
    const { type } = JSON.parse(String(data)) as { readonly type: string };
    if (type !== 'error') resolve(type);
  });
  socket.on('close', (code) => resolve(String(code)));
  const outcome = await promise;
  socket.terminate();
  return outcome;
}

test('a WebSocket of a live session opens with the documented request, and with no other', async () => {
  const { fixture, start, audit } = await openLiveServer({ basePath: '/api' });
  await using server = fixture;
  const path = `${server.url}/api/v1/sessions/${await start()}/live`;
  assert.equal(await tryOpen(path), 'ready');
  assert.match(await tryOpen(path, { protocol: 'other' }), /^400 .*offer the subprotocol/);
  assert.match(await tryOpen(`${path}?key=ptk_1`), /^400 query\.key: is unknown.*first message/);
  assert.match(await tryOpen(`${server.url}/api/v1/sessions/a/alive`), /^404 /);
  assert.match(await tryOpen(`${server.url}/v1/sessions/a/live`), /^404 /);
  assert.match(await tryOpen(`${server.url}/api/v1/sessions/%E0/live`), /^404 /);
  assert.equal(await tryOpen(`${server.url}/api/v1/sessions/a/live`), '4404');
  assert.deepEqual(
    audit.map(({ method, status, keyId }) => `${method} ${status} ${keyId}`),
    ['GET 101 local', 'GET 404 local'],
  );
  // Another protocol is answered as a plain request.
  const { port } = server.listening;
  const raw = connect(port, '127.0.0.1');
  raw.end(
    `GET /api/health HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n`,
  );
  assert.match(await text(raw), /^HTTP\/1\.1 200/);
});

test('a page of another origin gets no WebSocket, with and without keys', async () => {
  for (const keys of ['off', 'required'] as const) {
    const { fixture, start } = await openLiveServer({
      keys,
      allowOrigins: ['https://app.example'],
    });
    await using server = fixture;
    const { token } = await server.server.keys.create('default', 'a');
    const path = `${server.url}/v1/sessions/${await start()}/live`;
    const hello = { type: 'hello', take_over: true, ...(keys === 'required' && { key: token }) };
    const from = async (headers: Readonly<Record<string, string>>): Promise<string> =>
      tryOpen(path, { hello, headers });
    for (const origin of ['https://evil.example', 'null', `${server.url}0`, 'http://localhost:1'])
      assert.match(await from({ origin }), /^403 Origin/, `${keys} ${origin}`);
    assert.equal(await from({ origin: server.url }), 'ready');
    assert.equal(await from({ origin: 'https://app.example' }), 'ready');
    assert.equal(await from({}), 'ready');
    const rebound = { host: 'evil.example', origin: 'http://evil.example' };
    // With keys the page has none: a key is not sent by the browser, as a cookie is.
    assert.match(await from(rebound), keys === 'off' ? /^403 Host/ : /^ready/);
  }
});

test('a key opens the sessions of its workspace, from a header or the first message', async () => {
  const { fixture, start, audit } = await openLiveServer({
    keys: 'required',
    limits: { failedKeysPerMinute: 3 },
  });
  await using server = fixture;
  const { keys } = server.server;
  const blue = await keys.create('blue', 'a');
  const reader = await keys.create('blue', 'r', { scope: { type: 'read' } });
  const session = await start('blue');
  const path = `${server.url}/v1/sessions/${session}/live`;
  const hello = (key: string): object => ({ type: 'hello', take_over: true, key });
  assert.equal(await tryOpen(path), '4401');
  assert.equal(await tryOpen(path, { hello: hello(blue.token) }), 'ready');
  const take = { type: 'hello', take_over: true };
  assert.equal(await tryOpen(path, { hello: take, headers: { 'x-api-key': blue.token } }), 'ready');
  const authorization = `Bearer ${blue.token}`;
  assert.equal(await tryOpen(path, { hello: take, headers: { authorization } }), 'ready');
  assert.equal(await tryOpen(path, { hello: hello(reader.token) }), '4403');
  const red = await keys.create('red', 'b');
  assert.equal(await tryOpen(path, { hello: hello(red.token) }), '4404');
  await keys.revoke(red.key.id);
  const outcomes: string[] = [];
  for (let attempt = 0; attempt < 5; attempt++)
    outcomes.push(await tryOpen(path, { hello: hello(`ptk_${'0'.repeat(16)}_${'0'.repeat(64)}`) }));
  assert.deepEqual(outcomes, ['4401', '4401', '4401', '4429', '4429']);
  assert.ok(!JSON.stringify(audit).includes(blue.token));
});

test('messages above the limit, and sockets that say nothing, are bounded', async () => {
  const { fixture, start } = await openLiveServer({ limits: { liveMessageBytes: 1_000 } });
  await using server = fixture;
  const path = `${server.url}/v1/sessions/${await start()}/live`;
  assert.equal(await tryOpen(path, { hello: { type: 'hello', key: 'x'.repeat(2_000) } }), '1009');
  const silent = Array.from(
    { length: 20 },
    () => new WebSocket(path.replace('http', 'ws'), PROTOCOL),
  );
  await Promise.all(silent.map(async (socket) => once(socket, 'open')));
  assert.match(await tryOpen(path), /^429 Too many WebSockets/);
  const [first] = silent;
  first?.send(JSON.stringify({ type: 'hello' }));
  assert.ok(first !== undefined);
  await once(first, 'message');
  assert.equal(await tryOpen(path), '4409');
  for (const socket of silent) socket.terminate();
});

test('without the option, no WebSocket opens; a server that closes ends its sockets', async () => {
  const plain = await openServerFixture(() => ({ text: 'Hi.' }));
  assert.match(await tryOpen(`${plain.url}/v1/sessions/a/live`), /^404 No route matches/);
  await assert.rejects(
    createServer({ runtime: plain.runtime, keys: 'off', live: new LiveHub(), readOnly: true }),
    { code: 'invalid_input', message: /^live: cannot be served with readOnly/ },
  );
  await assert.rejects(
    createServer({ runtime: plain.runtime, keys: 'off', liveRecordings: true }),
    { code: 'invalid_input', message: /^liveRecordings: needs live/ },
  );
  await plain[Symbol.asyncDispose]();

  const { fixture, start } = await openLiveServer();
  const path = `${fixture.url}/v1/sessions/${await start()}/live`;
  const socket = new WebSocket(path.replace('http', 'ws'), PROTOCOL);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'hello' }));
  await once(socket, 'message');
  const [[code]] = await Promise.all([once(socket, 'close'), fixture.listening.close()]);
  assert.equal(code, 1001);
  await fixture[Symbol.asyncDispose]();
});
