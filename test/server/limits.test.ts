import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { SimulatedClock } from '../../src/net/index.ts';
import { createServer } from '../../src/server/index.ts';
import type { ServerLimits } from '../../src/server/index.ts';
import { openServerFixture } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';

interface ParsedResponse {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  readonly headers: Headers;
}

async function parseResponse(response: Response): Promise<ParsedResponse> {
  const body = (await response.json()) as {
    readonly error?: { readonly type: string; readonly message: string };
  };
  const { type = '', message = '' } = body.error ?? {};
  return { status: response.status, type, message, headers: response.headers };
}

const json = { 'content-type': 'application/json' };
const agent = JSON.stringify({ name: 'Helper', model: 'gemini-2.5-flash' });

test('each key may make 600 requests and 60 creations a minute, and then gets 429', async () => {
  await using on = await openServerFixture(scriptedChat);
  const { runtime, store } = on;
  const clock = new SimulatedClock();
  const server = await createServer({ runtime, store, keys: 'required', clock });
  const [one, two] = [await server.keys.create('a', ''), await server.keys.create('a', '')];
  const request = async (token: string, method: string): Promise<ParsedResponse> => {
    const headers = { 'x-api-key': token, ...json };
    const body = method === 'POST' ? { body: agent } : {};
    return parseResponse(
      await server.fetch(new Request('http://local/v1/agents', { method, headers, ...body })),
    );
  };
  for (let n = 0; n < 60; n++) assert.equal((await request(one.token, 'POST')).status, 200);
  const limited = await request(one.token, 'POST');
  assert.deepEqual([limited.status, limited.type], [429, 'rate_limit_error']);
  assert.equal(limited.headers.get('retry-after'), '1');
  assert.equal(limited.headers.get('x-should-retry'), 'true');
  for (let n = 0; n < 600; n++) assert.equal((await request(one.token, 'GET')).status, 200);
  assert.equal((await request(one.token, 'GET')).status, 429);
  assert.equal((await request(two.token, 'GET')).status, 200, 'each key has its own limit');
  clock.advance(1000);
  assert.equal((await request(one.token, 'POST')).status, 200);
  assert.equal((await request(one.token, 'POST')).status, 429);
  for (let n = 0; n < 10; n++) assert.equal((await request(one.token, 'GET')).status, 200);
  assert.equal((await request(one.token, 'GET')).status, 429);
});

test('a limit that is not a positive integer is rejected by name', async () => {
  await using on = await openServerFixture(scriptedChat);
  const { runtime, store } = on;
  for (const name of ['bodyBytes', 'requestsPerMinute', 'failedKeysPerMinute']) {
    for (const limit of [Number.NaN, 0, -1, 1.5]) {
      await assert.rejects(
        createServer({ runtime, store, keys: 'off', limits: { [name]: limit } }),
        { code: 'invalid_input', field: `limits.${name}` },
      );
    }
  }
});

test('the health check has no rate limit', async () => {
  await using on = await openServerFixture(scriptedChat, {
    server: { limits: { requestsPerMinute: 1 } },
  });
  for (let n = 0; n < 5; n++) {
    const response = await fetch(`${on.url}/health`);
    assert.deepEqual(await response.json(), { status: 'ok', durability: 'process' });
  }
});

test('every response has a request id from the server, whatever id the client sends', async () => {
  await using on = await openServerFixture(scriptedChat);
  const headers = { 'request-id': 'mine', 'x-request-id': 'mine' };
  for (const path of ['/health', '/v1/agents?limit=0', '/nothing']) {
    const response = await fetch(on.url + path, { headers });
    const id = response.headers.get('request-id') ?? '';
    assert.match(id, /^req_[0-9a-f]{32}$/, path);
    const body = (await response.json()) as { readonly request_id?: string };
    if (!response.ok) assert.equal(body.request_id, id, path);
  }
});

for (const [what, limits, size] of [
  ['a megabyte', {}, 1_048_576],
  ['bodyBytes', { bodyBytes: 1000 }, 1000],
] as readonly (readonly [string, ServerLimits, number])[]) {
  test(`a body of more than ${what} is rejected with 413, with or without a content-length`, async () => {
    await using on = await openServerFixture(scriptedChat, { server: { limits } });
    const createBody = (length: number): string => agent + ' '.repeat(length - agent.length);
    const post = async (body: string | ReadableStream): Promise<ParsedResponse> => {
      const init: RequestInit = { method: 'POST', headers: json, body, duplex: 'half' };
      return parseResponse(await fetch(`${on.url}/v1/agents`, init));
    };
    assert.equal((await post(createBody(size - 1))).status, 200);
    const { status, type, message } = await post(createBody(size + 100));
    assert.deepEqual([status, type], [413, 'request_too_large']);
    assert.match(message, new RegExp(String(size)));
    const streamedBody = new Blob([createBody(size + 100)]).stream();
    assert.equal((await post(streamedBody)).status, 413);
  });
}

test('a request with more than 256 events is rejected as a whole', async () => {
  await using on = await openServerFixture(scriptedChat);
  const { client } = on;
  const { id: agentId } = await client.beta.agents.create({ name: 'A', model: 'gemini-2.5-flash' });
  const environment = await client.beta.environments.create({ name: 'Here' });
  const session = await client.beta.sessions.create({
    agent: agentId,
    environment_id: environment.id,
  });
  const send = async (count: number): Promise<ParsedResponse> => {
    const event = { type: 'user.message', content: [{ type: 'text', text: 'Hi' }] };
    const body = JSON.stringify({ events: Array.from({ length: count }, () => event) });
    const path = `/v1/sessions/${session.id}/events`;
    return parseResponse(await fetch(`${on.url}${path}`, { method: 'POST', headers: json, body }));
  };
  const { status, message } = await send(257);
  assert.equal(status, 400);
  assert.match(message, /body\.events.*256/);
  assert.deepEqual(await on.log(session.id), []);
  assert.equal((await send(2)).status, 200);
});

test('a client that disconnects during its request causes no server error', async () => {
  const errors: unknown[] = [];
  const { promise: status, resolve } = Promise.withResolvers<number>();
  await using on = await openServerFixture(scriptedChat, {
    server: { onError: (error) => errors.push(error), audit: ({ status }) => resolve(status) },
  });
  const socket = connect(Number(new URL(on.url).port), '127.0.0.1');
  socket.write(
    'POST /v1/agents HTTP/1.1\r\nhost: localhost\r\ncontent-length: 500\r\n\r\n{"name"',
    () => {
      // When a later request is answered, the server has received it.
      void fetch(`${on.url}/health`).then(() => socket.destroy());
    },
  );
  assert.equal(await status, 400);
  assert.deepEqual(errors, []);
});
