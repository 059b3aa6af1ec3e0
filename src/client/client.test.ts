import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptedChat } from '../../test/server/scripted-chat.ts';
import { openServerFixture } from '../../test/server/server-fixture.ts';
import type { ServerFixture } from '../../test/server/server-fixture.ts';
import { ApiError } from './api-error.ts';
import { ConnectionError } from './connection-error.ts';
import { createClient } from './create-client.ts';
import type { Client, ClientOptions } from './create-client.ts';
import type { SessionEvent, StreamedEvent } from './session-event.ts';

const noPause = async (): Promise<void> => {};

function createTestClient({ url }: Pick<ServerFixture, 'url'>, more: ClientOptions = {}): Client {
  return createClient({ baseUrl: url, delay: noPause, ...more });
}

async function newSession(client: Client, tools: readonly object[] = []): Promise<string> {
  const params = { name: 'Helper', model: 'gemini-2.5-flash', tools };
  const agent = await client.agents.create(params as Parameters<Client['agents']['create']>[0]);
  return (await client.sessions.create({ agent: agent.id })).id;
}

async function until(
  events: AsyncIterable<StreamedEvent>,
  isLast: (event: SessionEvent) => boolean,
): Promise<readonly SessionEvent[]> {
  const seen: SessionEvent[] = [];
  for await (const event of events) {
    if (!('seq' in event)) continue;
    seen.push(event);
    if (isLast(event)) break;
  }
  return seen;
}

const isIdle = ({ type }: SessionEvent): boolean => type === 'session.status_idle';

test('a client creates an agent and a session, sends a message and reads the answer', async () => {
  await using on = await openServerFixture(scriptedChat);
  const client = createTestClient(on);
  const id = await newSession(client);
  const [sent] = await client.sessions.send(id, 'Hi');
  const events = await until(client.sessions.events(id), isIdle);
  assert.equal(events[0]?.id, sent?.id);
  const answer = events.find(({ type }) => type === 'agent.message');
  assert.ok(answer?.type === 'agent.message');
  assert.deepEqual(answer.content, [{ type: 'text', text: 'You said: Hi' }]);
  const { status, last_seq: last } = await client.sessions.get(id);
  assert.equal(status, 'idle');
  assert.equal(events.at(-1)?.seq, last);
});

test('a base URL without http is refused when the client is made', () => {
  for (const baseUrl of ['localhost:8787', '127.0.0.1:8787', 'ws://127.0.0.1:8787'])
    assert.throws(() => createClient({ baseUrl }), {
      code: 'invalid_input',
      field: 'baseUrl',
      message: 'baseUrl: must begin with http:// or https://, for example http://127.0.0.1:8787.',
    });
  for (const baseUrl of ['http://127.0.0.1:8787/', 'HTTPS://agents.example/api', '/agents', ''])
    createClient({ baseUrl });
});

test('listings are read page by page to the end', async () => {
  await using on = await openServerFixture(scriptedChat);
  const client = createTestClient(on);
  for (let n = 0; n < 7; n++)
    await client.agents.create({ name: `A${n}`, model: 'gemini-2.5-flash' });
  const names: string[] = [];
  for await (const { name } of client.agents.list({ limit: 3 })) names.push(name);
  assert.deepEqual(names, ['A6', 'A5', 'A4', 'A3', 'A2', 'A1', 'A0']);
});

test('a refused request rejects with its status, and is not retried', async () => {
  await using on = await openServerFixture(scriptedChat);
  let requestCount = 0;
  const client = createTestClient(on, {
    fetch: async (...args) => {
      requestCount++;
      return fetch(...args);
    },
  });
  await assert.rejects(client.sessions.get('none'), (error: unknown) => {
    assert.ok(error instanceof ApiError);
    assert.equal(error.status, 404);
    assert.equal(error.type, 'not_found_error');
    assert.match(error.requestId ?? '', /^req_/);
    return true;
  });
  assert.equal(requestCount, 1);
});

test('a stream that breaks after every event is read to the end, each event once', async () => {
  await using on = await openServerFixture(scriptedChat);
  const whole = createTestClient(on);
  const id = await newSession(whole);
  await whole.sessions.send(id, 'one');
  const first = await until(whole.sessions.events(id), isIdle);
  await whole.sessions.send(id, 'two');
  const rest = await until(whole.sessions.events(id, { after: first.at(-1)?.id ?? '' }), isIdle);
  let connections = 0;
  const broken = createTestClient(on, {
    fetch: async (...args) => {
      connections++;
      return cutAfterOneEvent(await fetch(...args));
    },
  });
  const all = [...first, ...rest];
  const seen = await until(broken.sessions.events(id), ({ id: last }) => last === all.at(-1)?.id);
  assert.deepEqual(seen, all);
  assert.ok(connections >= all.length);
});

test('a lost reply does not duplicate a message', async () => {
  await using on = await openServerFixture(scriptedChat);
  const good = createTestClient(on);
  const id = await newSession(good);
  let lost = 0;
  const losing = createTestClient(on, {
    fetch: async (...args) => {
      const response = await fetch(...args);
      await response.arrayBuffer();
      if (lost++ < 3) throw new TypeError('the connection was lost');
      return fetch(...args);
    },
  });
  await losing.sessions.send(id, 'once');
  await until(good.sessions.events(id), isIdle);
  const log = await on.log(id);
  assert.equal(log.filter(({ type }) => type === 'user.message').length, 1);
});

test('an unreachable server rejects with a ConnectionError, after the configured retries', async () => {
  let tries = 0;
  const client = createClient({
    baseUrl: 'http://127.0.0.1:9',
    retries: 2,
    delay: noPause,
    fetch: async (...args) => {
      tries++;
      return fetch(...args);
    },
  });
  await assert.rejects(client.sessions.get('none'), ConnectionError);
  assert.equal(tries, 3);
  const readingEvents = until(client.sessions.events('none', { reconnects: 2 }), () => false);
  await assert.rejects(readingEvents, ConnectionError);
  assert.equal(tries, 6);
});

test('the client waits for Retry-After up to a maximum, and rejects at once when it is longer', async () => {
  for (const [seconds, tries] of [
    ['60', 3],
    ['61', 1],
    ['99999999999', 1],
  ] as const) {
    const waits: number[] = [];
    let requestCount = 0;
    const client = createClient({
      retries: 2,
      delay: async (ms) => void waits.push(ms),
      fetch: async () => {
        requestCount++;
        return Response.json({}, { status: 429, headers: { 'retry-after': seconds } });
      },
    });
    await assert.rejects(client.sessions.get('s'), { status: 429 });
    assert.deepEqual(
      [requestCount, waits],
      [tries, Array.from({ length: tries - 1 }, () => 60_000)],
    );
  }
});

test('a session is paused, resumed, forked and rewound', async () => {
  await using on = await openServerFixture(scriptedChat);
  const client = createTestClient(on);
  const id = await newSession(client);
  await client.sessions.send(id, 'one');
  await until(client.sessions.events(id), isIdle);
  const { last_seq: last } = await client.sessions.get(id);
  const fork = await client.sessions.fork(id);
  assert.notEqual(fork.id, id);
  assert.equal(fork.last_seq, last);
  assert.equal((await client.sessions.pause(id)).paused, true);
  assert.equal((await client.sessions.resume(id)).paused, false);
  const [sentEvent] = await client.sessions.send(id, 'two');
  await until(client.sessions.events(id, { after: sentEvent?.id ?? '' }), isIdle);
  await client.sessions.rewind(id, sentEvent?.id ?? '');
  const log = await on.log(id);
  assert.ok(log.some(({ type }) => type === 'session.rewound'));
});

test('an aborted reader ends without an error', async () => {
  await using on = await openServerFixture(scriptedChat);
  const client = createTestClient(on);
  const id = await newSession(client);
  await client.sessions.send(id, 'Hi');
  const controller = new AbortController();
  for await (const event of client.sessions.events(id, { signal: controller.signal }))
    if (event.type === 'session.status_idle') controller.abort();
});

test('partials of an answer are streamed on request', async () => {
  await using on = await openServerFixture(scriptedChat);
  const client = createTestClient(on);
  const id = await newSession(client);
  await client.sessions.send(id, 'slowly 5');
  let text = '';
  let whole: SessionEvent | undefined;
  for await (const event of client.sessions.events(id, { previews: ['agent.message'] })) {
    if (event.type === 'event_delta') text += event.delta.content.text;
    if (event.type === 'agent.message') whole = event;
    if (event.type === 'session.status_idle') break;
  }
  assert.ok(whole?.type === 'agent.message' && whole.content[0]?.type === 'text');
  assert.ok(whole.content[0].text.endsWith(text), 'what came first is in what it became');
});

/** The response, cut off in the middle of its second event. */
function cutAfterOneEvent(response: Response): Response {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true)
    return response;
  let frames = 0;
  let rest = '';
  const cut = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      rest += new TextDecoder().decode(chunk);
      for (;;) {
        const end = rest.indexOf('\n\n');
        if (end < 0) return;
        const frame = rest.slice(0, end + 2);
        rest = rest.slice(end + 2);
        if (frame.startsWith('id:') && frames++ === 1) {
          controller.enqueue(new TextEncoder().encode(frame.slice(0, frame.length / 2)));
          controller.terminate();
          return;
        }
        controller.enqueue(new TextEncoder().encode(frame));
      }
    },
  });
  return new Response(response.body?.pipeThrough(cut), response);
}
