import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import Anthropic from '@anthropic-ai/sdk';
import type { JsonObject, LogEvent } from '../../src/core/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openStore } from '../../src/store/index.ts';
import { deploy } from './conformance-cases.ts';
import { cuttableProxy } from './cuttable-proxy.ts';
import { userMessage, openServerFixture } from './server-fixture.ts';
import type { ServerFixture } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Headers that clients of the protocol send. */
const jsonHeaders = { 'content-type': 'application/json' };
const ENDPOINTS = [
  'POST /v1/agents',
  'GET /v1/agents',
  'GET /v1/agents/{agent_id}',
  'POST /v1/agents/{agent_id}',
  'POST /v1/agents/{agent_id}/archive',
  'GET /v1/agents/{agent_id}/versions',
  'POST /v1/environments',
  'GET /v1/environments',
  'GET /v1/environments/{environment_id}',
  'POST /v1/environments/{environment_id}',
  'DELETE /v1/environments/{environment_id}',
  'POST /v1/environments/{environment_id}/archive',
  'POST /v1/sessions',
  'GET /v1/sessions',
  'GET /v1/sessions/{session_id}',
  'POST /v1/sessions/{session_id}',
  'DELETE /v1/sessions/{session_id}',
  'POST /v1/sessions/{session_id}/archive',
  'GET /v1/sessions/{session_id}/events',
  'POST /v1/sessions/{session_id}/events',
  'GET /v1/sessions/{session_id}/events/stream',
  'GET /v1/sessions/{session_id}/threads',
  'GET /v1/sessions/{session_id}/threads/{thread_id}',
  'POST /v1/sessions/{session_id}/threads/{thread_id}/archive',
  'GET /v1/sessions/{session_id}/threads/{thread_id}/events',
  'GET /v1/sessions/{session_id}/threads/{thread_id}/stream',
  'GET /v1/environments/{environment_id}/work/poll',
  'GET /v1/environments/{environment_id}/work',
  'GET /v1/environments/{environment_id}/work/stats',
  'GET /v1/environments/{environment_id}/work/{work_id}',
  'POST /v1/environments/{environment_id}/work/{work_id}',
  'POST /v1/environments/{environment_id}/work/{work_id}/ack',
  'POST /v1/environments/{environment_id}/work/{work_id}/heartbeat',
  'POST /v1/environments/{environment_id}/work/{work_id}/stop',
];

/** Routes that extend the protocol. */
const EXTENSION_ENDPOINTS = ['pause', 'resume', 'fork', 'rewind'].map(
  (verb) => `POST /v1/sessions/{session_id}/${verb}`,
);

/**
 * Requirements of the protocol besides the calls of stock clients, one entry each. They use plain HTTP, because a
 * client hides most of it.
 */
const requirements: Readonly<Record<string, () => Promise<void>>> = {
  'all 34 endpoints exist and are in the OpenAPI document': async () => {
    await using on = await openServerFixture(scriptedChat);
    const { paths } = (await json(`${on.url}/openapi.json`)) as unknown as {
      readonly paths: Readonly<Record<string, object>>;
    };
    const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    assert.equal(ENDPOINTS.length, 34);
    for (const endpoint of [...ENDPOINTS, ...EXTENSION_ENDPOINTS])
      assert.ok(endpoints.includes(endpoint), endpoint);
  },

  'a stream frame has an id, the event name message and one line of JSON, and headers disable buffering':
    async () => {
      await using on = await openServerFixture(scriptedChat);
      const session = await newSession(on);
      const response = await fetch(`${on.url}/v1/sessions/${session}/events/stream`);
      assert.equal(response.status, 200);
      assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
      assert.equal(response.headers.get('x-accel-buffering'), 'no');
      assert.match(response.headers.get('cache-control') ?? '', /no-store/);
      await send(on, session, 'Hi\nthere');
      const frames = await framesUntil(response, /status_idle/);
      assert.equal(frames[0], ': open');
      for (const frame of frames.slice(1)) {
        const [, id, data = ''] = /^id: (sevt_\w+)\nevent: message\ndata: (.*)$/.exec(frame) ?? [];
        assert.equal((JSON.parse(data) as { id: string }).id, id, frame);
      }
      assert.equal(frames.length, 7);
    },

  'a silent stream sends a comment every 15 seconds': async () => {
    const clock = new SimulatedClock(Date.now());
    await using on = await openServerFixture(scriptedChat, { server: { clock } });
    const session = await newSession(on);
    const response = await fetch(`${on.url}/v1/sessions/${session}/events/stream`);
    const reader = createReader(response);
    assert.equal(await reader.next(), ': open');
    for (const label of ['first', 'second']) {
      await waitForTimer(clock, 15_000);
      clock.advance(15_000);
      assert.equal(await reader.next(), ': keep-alive', label);
    }
  },

  'a stream ignores the accept header, and list parameters use name[]': async () => {
    await using on = await openServerFixture(scriptedChat);
    const session = await newSession(on);
    const response = await fetch(
      `${on.url}/v1/sessions/${session}/events/stream?event_deltas%5B%5D=agent.message&event_deltas%5B%5D=agent.thinking`,
      { headers: { accept: 'application/json' } },
    );
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
    await send(on, session, 'think');
    const frames = await framesUntil(response, /status_idle/);
    assert.equal(frames.filter((one) => one.includes('"event_start"')).length, 2);
    for (const frame of frames.filter((one) => /"event_(start|delta)"/.test(one)))
      assert.match(
        frame,
        /^event: message\ndata: /,
        'a preview has no id, because it is not stored',
      );
    const query = 'types%5B%5D=user.message&types%5B%5D=session.status_idle';
    const { data } = await json(`${on.url}/v1/sessions/${session}/events?${query}`);
    assert.deepEqual(listTypes(data), ['user.message', 'session.status_idle']);
    const one = await json(`${on.url}/v1/sessions/${session}/events?types[]=user.message`);
    assert.deepEqual(listTypes(one['data']), ['user.message']);
  },

  'previews are sent only on request and never stored': async () => {
    await using on = await openServerFixture(scriptedChat);
    const session = await newSession(on);
    const plain = await fetch(`${on.url}/v1/sessions/${session}/events/stream`);
    await send(on, session, 'slowly 3');
    const frames = await framesUntil(plain, /status_idle/);
    assert.ok(frames.every((one) => !/"event_(start|delta)"/.test(one)));
    const { data } = await json(`${on.url}/v1/sessions/${session}/events`);
    assert.ok(listTypes(data).every((type) => !type.startsWith('event_')));
    const replayed = await fetch(
      `${on.url}/v1/sessions/${session}/events/stream?from_seq=0&event_deltas[]=agent.message`,
    );
    const replayedFrames = await framesUntil(replayed, /status_idle/);
    assert.deepEqual(replayedFrames.slice(1), frames.slice(1));
  },

  'a key comes as a bearer token or as x-api-key, with any version, beta or not': async () => {
    await using on = await openServerFixture(scriptedChat, { server: { keys: 'required' } });
    const { token } = await on.server.keys.create('default', 'test');
    const status = async (path: string, headers: Record<string, string>): Promise<number> =>
      (await fetch(on.url + path, { headers })).status;
    assert.equal(await status('/v1/agents', { authorization: `Bearer ${token}` }), 200);
    assert.equal(await status('/v1/agents?beta=true', { 'x-api-key': token }), 200);
    const versions = { 'anthropic-version': '1999-01-01', 'anthropic-beta': 'none-such-2030' };
    assert.equal(await status('/v1/agents', { 'x-api-key': token, ...versions }), 200);
    assert.equal(await status('/v1/agents', {}), 401);
    assert.equal(await status('/v1/agents', { 'x-api-key': 'sk-ant-other' }), 401);
    const invalidToken = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;
    assert.equal(await status('/v1/agents', { 'x-api-key': invalidToken }), 401);
    const refused = await fetch(`${on.url}/v1/agents`);
    const { error } = (await refused.json()) as { error: JsonObject };
    assert.equal(error['type'], 'authentication_error');
  },

  'an error response has a type, a message, the request id and x-should-retry': async () => {
    await using on = await openServerFixture(scriptedChat, {
      server: { limits: { createsPerMinute: 4, requestsPerMinute: 1000, bodyBytes: 1000 } },
    });
    const session = await newSession(on);
    const { agent } = (await json(`${on.url}/v1/sessions/${session}`)) as {
      agent: { id: string };
    };
    await fetch(`${on.url}/v1/sessions/${session}/archive`, { method: 'POST' });
    const requests = [
      ['POST', '/v1/agents', '{', 400, 'invalid_request_error', 'false'],
      [
        'POST',
        `/v1/sessions/${session}/events`,
        '{"events":[]}',
        400,
        'invalid_request_error',
        'false',
      ],
      ['GET', '/v1/agents/agent_none', undefined, 404, 'not_found_error', 'false'],
      ['GET', '/v1/nothing', undefined, 404, 'not_found_error', 'false'],
      [
        'POST',
        `/v1/sessions/${session}/events`,
        JSON.stringify({ events: [userMessage('Hi')] }),
        409,
        'invalid_request_error',
        'false',
      ],
      [
        'POST',
        `/v1/agents/${agent.id}`,
        '{"version":9,"name":"x"}',
        409,
        'invalid_request_error',
        'false',
      ],
      [
        'POST',
        '/v1/agents',
        JSON.stringify({ name: 'x'.repeat(2000) }),
        413,
        'request_too_large',
        'false',
      ],
      ['POST', '/v1/agents', '{}', 429, 'rate_limit_error', 'true'],
    ] as const;
    for (const [method, path, body, status, type, shouldRetry] of requests) {
      const response = await fetch(on.url + path, {
        method,
        headers: jsonHeaders,
        ...(body !== undefined && { body }),
      });
      const reply = (await response.json()) as JsonObject & { error: JsonObject };
      assert.deepEqual(
        [response.status, reply['type'], reply.error['type']],
        [status, 'error', type],
        path,
      );
      assert.equal(response.headers.get('x-should-retry'), shouldRetry, path);
      assert.equal(typeof reply.error['message'], 'string');
      assert.equal(response.headers.get('request-id'), reply['request_id']);
      assert.doesNotMatch(JSON.stringify(reply), /node:internal|\.ts:\d+/, 'no internal details');
    }
  },

  'a retried send whose response was lost takes effect once, and a deliberate repetition takes effect twice':
    async () => {
      await using on = await openServerFixture(scriptedChat);
      const session = await newSession(on);
      const first = await post(on, session, 'Hi', { count: 0, isDelivered: false });
      const repeated = await post(on, session, 'Hi', { count: 1, isDelivered: true });
      assert.deepEqual(repeated, first);
      const second = await post(on, session, 'Hi', { count: 0, isDelivered: true });
      assert.notDeepEqual(second, first);
      assert.equal(await messagesIn(on, session), 2);
    },

  'a retry is matched to the message whose response was lost, not to an older equal message':
    async () => {
      const clock = new SimulatedClock(Date.now());
      await using on = await openServerFixture(scriptedChat, { server: { clock } });
      const session = await newSession(on);
      const older = await post(on, session, 'Yes', { count: 0, isDelivered: 'unsure' });
      const newer = await post(on, session, 'Yes', { count: 0, isDelivered: false });
      assert.notDeepEqual(newer, older);
      const repeated = await post(on, session, 'Yes', { count: 1, isDelivered: true });
      assert.deepEqual(
        repeated,
        newer,
        'the newer message is the one without a delivered response',
      );
      clock.advance(61_000);
      // Its first attempt never reached this server.
      const lateRetry = await post(on, session, 'Yes', { count: 1, isDelivered: true });
      assert.notDeepEqual(lateRetry, older);
      assert.equal(await messagesIn(on, session), 3);
    },

  'a retried update whose response was lost returns its version, and a different update with that version is a conflict':
    async () => {
      await using on = await openServerFixture(scriptedChat);
      const id = await create(on, '/v1/agents', { name: 'A', model: 'gemini-2.5-flash' });
      const update = async (count: number, name: string): Promise<Response> =>
        fetch(`${on.url}/v1/agents/${id}`, {
          method: 'POST',
          headers: { ...jsonHeaders, 'x-stainless-retry-count': String(count) },
          body: JSON.stringify({ version: 1, name }),
        });
      assert.equal((await update(0, 'B')).status, 200);
      const repeated = await update(1, 'B');
      assert.equal(repeated.status, 200);
      assert.equal(((await repeated.json()) as { version: number }).version, 2);
      assert.equal((await update(1, 'C')).status, 409);
      assert.equal((await update(0, 'B')).status, 409);
    },

  'a retried interrupt whose response was lost does not end a later turn': async () => {
    await using on = await openServerFixture(scriptedChat);
    const session = await newSession(on);
    const interrupt = async (key: string): Promise<number> => {
      const response = await fetch(`${on.url}/v1/sessions/${session}/events`, {
        method: 'POST',
        headers: { ...jsonHeaders, 'idempotency-key': key },
        body: JSON.stringify({ events: [{ type: 'user.interrupt' }] }),
      });
      return response.status;
    };
    const from = await fetch(`${on.url}/v1/sessions/${session}/events/stream?from_seq=0`);
    await send(on, session, 'slowly 500');
    await findEvent(on, session, 'session.status_running');
    assert.equal(await interrupt('one'), 200);
    await framesUntil(from, /status_idle/);
    await send(on, session, 'slowly 3');
    assert.equal(await interrupt('one'), 200);
    const log = await untilTurns(on, session, 2);
    assert.deepEqual(
      log.flatMap((event) => (event.type === 'turn.ended' ? [event.stopReason] : [])),
      ['interrupted', 'end_turn'],
    );
  },

  'no resource is created twice when the first response to each request is lost': async () => {
    await using on = await openServerFixture(scriptedChat);
    await using proxy = await cuttableProxy(on.url, (reply) => reply % 2 === 1);
    const client = new Anthropic({ baseURL: proxy.url, apiKey: 'none' });
    const { beta } = client;
    const agent = await beta.agents.create({ name: 'A', model: 'gemini-2.5-flash' });
    assert.equal((await beta.agents.update(agent.id, { version: 1, name: 'B' })).version, 2);
    const environment = await beta.environments.create({ name: 'Here' });
    const session = await beta.sessions.create({
      agent: agent.id,
      environment_id: environment.id,
      initial_events: [userMessage('One')],
    });
    const firstSend = await beta.sessions.events.send(session.id, { events: [userMessage('Two')] });
    const secondSend = await beta.sessions.events.send(session.id, {
      events: [userMessage('Two')],
    });
    assert.notEqual(firstSend.data?.[0]?.id, secondSend.data?.[0]?.id);
    await client.post(`/v1/sessions/${session.id}/fork`, { body: {} });
    assert.equal(await messagesIn(on, session.id), 3);
    for (const [path, count] of [
      ['agents', 1],
      ['environments', 1],
      ['sessions', 2],
    ] as const) {
      const { data } = await json(`${on.url}/v1/${path}`);
      assert.equal((data as readonly unknown[]).length, count, path);
    }
  },

  'a send that a crash interrupted takes effect once, also when another process answers the retry':
    async () => {
      using folder = temporaryFolder();
      const path = `sqlite:${folder.path}/store.db`;
      const crashed = await openStore(path);
      const before = await openServerFixture(scriptedChat, { store: crashed });
      const session = await newSession(before);
      const first = await post(before, session, 'Hi', { count: 0, isDelivered: false });
      const retriedTwice = await post(before, session, 'Ho', { count: 0, isDelivered: false });
      await post(before, session, 'Ho', { count: 1, isDelivered: false });
      await before[Symbol.asyncDispose]();

      await using after = await openServerFixture(scriptedChat, { store: await openStore(path) });
      assert.deepEqual(await post(after, session, 'Hi', { count: 1, isDelivered: true }), first);
      assert.deepEqual(
        await post(after, session, 'Ho', { count: 2, isDelivered: true }),
        retriedTwice,
      );
      assert.equal(await messagesIn(after, session), 2);
    },

  'an idempotency key of the client identifies a retry': async () => {
    await using on = await openServerFixture(scriptedChat);
    const session = await newSession(on);
    const sendWithKey = async (key: string): Promise<unknown> => {
      const response = await fetch(`${on.url}/v1/sessions/${session}/events`, {
        method: 'POST',
        headers: { ...jsonHeaders, 'idempotency-key': key },
        body: JSON.stringify({ events: [userMessage('Hi')] }),
      });
      return response.json();
    };
    const first = await sendWithKey('a');
    assert.deepEqual(await sendWithKey('a'), first);
    assert.notDeepEqual(await sendWithKey('b'), first);
    assert.equal(await messagesIn(on, session), 2);
    const agents = await Promise.all(
      [1, 2].map(async () => {
        const response = await fetch(`${on.url}/v1/agents`, {
          method: 'POST',
          headers: { ...jsonHeaders, 'idempotency-key': 'agent' },
          body: JSON.stringify({ name: 'A', model: 'gemini-2.5-flash' }),
        });
        return ((await response.json()) as { id: string }).id;
      }),
    );
    assert.equal(new Set(agents).size, 1, 'also for concurrent requests');
  },

  'a repeated result gets the same response, and a different result is rejected': async () => {
    await using on = await openServerFixture(scriptedChat);
    const session = await newSession(on, { tools: [deploy] });
    await send(on, session, 'call deploy prod');
    const use = await findEvent(on, session, 'agent.custom_tool_use');
    const call = (await on.runtime.pending(session))[0]?.callId ?? '';
    const answer = async (id: string, text: string): Promise<Response> =>
      fetch(`${on.url}/v1/sessions/${session}/events`, {
        method: 'POST',
        headers: jsonHeaders,
        body: JSON.stringify({
          events: [
            {
              type: 'user.custom_tool_result',
              custom_tool_use_id: id,
              content: [{ type: 'text', text }],
            },
          ],
        }),
      });
    assert.notEqual(use['id'], call);
    const accepted = (await (await answer(call, 'done')).json()) as { data: readonly JsonObject[] };
    const repeated = await answer(String(use['id']), 'done');
    assert.equal(repeated.status, 200, 'the event id and the call id both work');
    const repeatedReply = (await repeated.json()) as typeof accepted;
    assert.equal(repeatedReply.data[0]?.['id'], accepted.data[0]?.['id']);
    const other = await answer(String(use['id']), 'not done');
    assert.deepEqual([other.status, other.headers.get('x-should-retry')], [400, 'false']);
    const result = await findEvent(on, session, 'user.custom_tool_result');
    assert.equal(
      result['id'],
      accepted.data[0]?.['id'],
      'the log and the response have the same id',
    );
  },

  'a reader can resume after any event by Last-Event-ID, after_id or from_seq': async () => {
    await using on = await openServerFixture(scriptedChat);
    const session = await newSession(on);
    const stream = `${on.url}/v1/sessions/${session}/events/stream`;
    const fullStream = await fetch(`${stream}?from_seq=0`);
    await send(on, session, 'Hi');
    const frames = (await framesUntil(fullStream, /status_idle/)).slice(1);
    const events = frames.map(
      (frame) => JSON.parse(parseData(frame)) as { id: string; seq: number },
    );
    assert.ok(events.length > 4);
    for (const [index, { id }] of events.slice(0, -1).entries()) {
      const rest = frames.slice(index + 1);
      const byHeader = await fetch(stream, { headers: { 'last-event-id': id } });
      assert.deepEqual((await framesUntil(byHeader, /status_idle/)).slice(1), rest);
      const byId = await fetch(`${stream}?after_id=${id}`);
      assert.deepEqual((await framesUntil(byId, /status_idle/)).slice(1), rest);
    }
    for (let seq = 0; seq < (events.at(-1)?.seq ?? 0); seq++) {
      const bySeq = await fetch(`${stream}?from_seq=${seq}`);
      const rest = frames.filter((_, index) => (events[index]?.seq ?? 0) > seq);
      assert.deepEqual((await framesUntil(bySeq, /status_idle/)).slice(1), rest);
    }
    const unknown = await fetch(`${stream}?after_id=sevt_none`);
    assert.equal(unknown.status, 400);
  },

  'include=net adds net events to lists and streams, and pages and cursors still work':
    async () => {
      await using on = await openServerFixture(scriptedChat);
      const session = await newSession(on);
      const base = `${on.url}/v1/sessions/${session}/events`;
      const stream = await fetch(`${base}/stream?from_seq=0&include=net`);
      await send(on, session, 'Hi');
      const frames = (await framesUntil(stream, /status_idle/)).slice(1);
      const streamed = frames.map((frame) => JSON.parse(parseData(frame)) as JsonObject);
      const isNet = (event: JsonObject): boolean => String(event['type']).startsWith('net.');
      const records = streamed.filter(isNet).map((event) => event['record']);
      assert.deepEqual(
        records,
        records.map((_, index) => index + 1),
        'each record once, in order',
      );
      assert.ok(streamed.some((event) => event['transition'] === 'model.call'));
      assert.doesNotMatch(
        JSON.stringify(streamed.filter(isNet)),
        /Hi/,
        'net events contain no content',
      );
      const fullList = (await json(`${base}?limit=1000`))['data'];
      assert.deepEqual(
        streamed.filter((event) => !isNet(event)),
        fullList,
      );
      const seen: JsonObject[] = [];
      let page: unknown = '';
      while (page !== null) {
        const one = await json(`${base}?limit=3&include=net&page=${String(page)}`);
        seen.push(...(one['data'] as readonly JsonObject[]));
        page = one['next_page'];
      }
      assert.deepEqual(seen, streamed);
      const [first] = fullList as readonly { readonly id: string }[];
      const rest = await fetch(`${base}/stream?include=net&after_id=${first?.id ?? ''}`);
      const after = (await framesUntil(rest, /status_idle/)).slice(1);
      const logged = frames.filter((frame) => frame.startsWith('id: '));
      assert.deepEqual(
        after.filter((frame) => frame.startsWith('id: ')),
        logged.slice(1),
      );
      assert.equal((await fetch(`${base}?include=net&order=desc`)).status, 400);
    },

  'a stalled reader is disconnected and can resume at its position': async () => {
    const clock = new SimulatedClock(Date.now());
    await using on = await openServerFixture(scriptedChat, {
      server: { clock, readerTimeoutMs: 30_000 },
    });
    const session = await newSession(on);
    const request = new Request(`${on.url}/v1/sessions/${session}/events/stream?from_seq=0`);
    const reader = createReader(await on.server.fetch(request));
    assert.equal(await reader.next(), ': open');
    await send(on, session, 'Hi');
    await findEvent(on, session, 'session.status_idle');
    const first = await reader.next();
    assert.match(first, /user\.message/);
    // One frame is prepared ahead of the reader and waits to be read.
    await waitForTimer(clock, 30_000);
    clock.advance(30_000);
    await assert.rejects(async () => {
      for (;;) await reader.next();
    }, /the stream has not ended/);
    const [, id = ''] = /^id: (\S+)/.exec(first) ?? [];
    const rest = await on.server.fetch(new Request(request, { headers: { 'last-event-id': id } }));
    assert.match((await framesUntil(rest, /status_idle/))[1] ?? '', /status_running/);
  },

  'changes use POST, an empty body is an empty object, and a path prefix is supported':
    async () => {
      await using on = await openServerFixture(scriptedChat, {
        server: { basePath: '/agents-api' },
      });
      const { beta } = new Anthropic({ baseURL: `${on.url}/agents-api`, apiKey: 'none' });
      const agent = await beta.agents.create({ name: 'A', model: 'gemini-2.5-flash' });
      assert.equal((await beta.agents.update(agent.id, { version: 1, name: 'B' })).name, 'B');
      const path = `${on.url}/agents-api/v1/agents/${agent.id}`;
      for (const method of ['PUT', 'PATCH']) {
        const refused = await fetch(path, { method, body: '{"name":"C"}' });
        assert.equal(refused.status, 404);
      }
      assert.equal((await fetch(`${path}/archive`, { method: 'POST' })).status, 200);
      assert.equal((await fetch(`${on.url}/v1/agents`)).status, 404);
    },

  'a list has pages in both orders, and the last page has no next page': async () => {
    await using on = await openServerFixture(scriptedChat);
    const session = await newSession(on);
    await send(on, session, 'Hi');
    await findEvent(on, session, 'session.status_idle');
    const base = `${on.url}/v1/sessions/${session}/events`;
    const fullList = (await json(base))['data'] as readonly JsonObject[];
    for (const order of ['asc', 'desc']) {
      const seen: JsonObject[] = [];
      let page: unknown = '';
      for (;;) {
        const one = await json(`${base}?limit=2&order=${order}&page=${String(page)}`);
        seen.push(...(one['data'] as readonly JsonObject[]));
        page = one['next_page'];
        if (page === null) break;
      }
      assert.deepEqual(order === 'asc' ? seen : seen.toReversed(), fullList);
    }
    for (const query of ['limit=0', 'limit=1001', 'limit=x', 'order=up', 'page=sevt_none'])
      assert.equal((await fetch(`${base}?${query}`)).status, 400, query);
  },
};

describe('protocol requirements', () => {
  for (const [requirement, check] of Object.entries(requirements)) it(requirement, check);
});

async function newSession(on: ServerFixture, agent: object = {}): Promise<string> {
  const made = await create(on, '/v1/agents', { name: 'A', model: 'gemini-2.5-flash', ...agent });
  return create(on, '/v1/sessions', { agent: made });
}

async function create(on: ServerFixture, path: string, body: object): Promise<string> {
  const response = await fetch(on.url + path, {
    method: 'POST',
    headers: jsonHeaders,
    body: JSON.stringify(body),
  });
  const { id } = (await response.json()) as { id: string };
  return id;
}

async function send(on: ServerFixture, session: string, text: string): Promise<void> {
  const response = await fetch(`${on.url}/v1/sessions/${session}/events`, {
    method: 'POST',
    headers: jsonHeaders,
    body: JSON.stringify({ events: [userMessage(text)] }),
  });
  assert.equal(response.status, 200);
}

/** Sends like a stock client on its n-th attempt, over a connection that reports whether the response arrived. */
async function post(
  { server, url }: ServerFixture,
  session: string,
  text: string,
  { count, isDelivered }: { readonly count: number; readonly isDelivered: boolean | 'unsure' },
): Promise<unknown> {
  const request = new Request(`${url}/v1/sessions/${session}/events`, {
    method: 'POST',
    headers: { ...jsonHeaders, 'x-stainless-retry-count': String(count) },
    body: JSON.stringify({ events: [userMessage(text)] }),
  });
  const delivered = Promise.resolve(isDelivered);
  const response = await server.fetch(request, { delivered });
  assert.equal(response.status, 200);
  return response.json();
}

/** Number of messages before one that is sent last. */
async function messagesIn(on: ServerFixture, session: string): Promise<number> {
  await send(on, session, 'And that is all.');
  for (;;) {
    const messages = (await on.log(session)).filter(({ type }) => type === 'user.message');
    if (JSON.stringify(messages.at(-1)).includes('And that is all.')) return messages.length - 1;
    await setImmediate();
  }
}

async function untilTurns(
  on: ServerFixture,
  session: string,
  count: number,
): Promise<readonly LogEvent[]> {
  for (;;) {
    const log = await on.log(session);
    if (log.filter(({ type }) => type === 'turn.ended').length === count) return log;
    await setImmediate();
  }
}

async function findEvent(on: ServerFixture, session: string, type: string): Promise<JsonObject> {
  for (;;) {
    const { data } = await json(`${on.url}/v1/sessions/${session}/events?limit=1000`);
    const found = (data as readonly JsonObject[]).find((event) => event['type'] === type);
    if (found !== undefined) return found;
  }
}

async function json(url: string): Promise<JsonObject> {
  return (await (await fetch(url)).json()) as JsonObject;
}

function listTypes(data: unknown): readonly string[] {
  return (data as readonly { type: string }[]).map(({ type }) => type);
}

function parseData(frame: string): string {
  return /^data: (.*)$/m.exec(frame)?.[1] ?? '';
}

async function framesUntil(response: Response, last: RegExp): Promise<readonly string[]> {
  const reader = createReader(response);
  const frames: string[] = [];
  while (!last.test(frames.at(-1) ?? '')) frames.push(await reader.next());
  await reader.cancel();
  return frames;
}

function createReader({ body }: Response): {
  readonly next: () => Promise<string>;
  readonly cancel: () => Promise<void>;
} {
  assert.ok(body !== null);
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    next: async () => {
      for (;;) {
        const end = text.indexOf('\n\n');
        if (end >= 0) {
          const frame = text.slice(0, end);
          text = text.slice(end + 2);
          return frame;
        }
        const { done, value } = await reader.read();
        assert.ok(!done, 'the stream has not ended');
        text += value;
      }
    },
    cancel: async () => reader.cancel(),
  };
}

/** Waits until a timer is set that is due within `ms`. */
async function waitForTimer(clock: SimulatedClock, ms: number): Promise<void> {
  const until = clock.now() + ms;
  while (clock.nextAt === undefined || clock.nextAt > until) await setImmediate();
}
