import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { JsonObject, LogEvent } from '../../src/core/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { MemoryStore, openStore } from '../../src/store/index.ts';
import { deploy } from './conformance-cases.ts';
import { userMessage, openServerFixture } from './server-fixture.ts';
import type { ServerFixture } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';
import { temporaryFolder } from './temporary-folder.ts';

describe('a request with several events', () => {
  it('is rejected as a whole when one event is invalid', async () => {
    await using on = await openServerFixture(scriptedChat);
    const session = await newSession(on);
    const rejected = await post(on, session, {
      events: [
        userMessage('One'),
        { type: 'user.tool_confirmation', tool_use_id: 'none', result: 'allow' },
      ],
    });
    assert.equal(rejected.status, 400);
    assert.equal(rejected.headers.get('x-should-retry'), 'false');
    await post(on, session, { events: [userMessage('Two')] });
    assert.deepEqual(await messagesUntil(on, session, 'Two'), ['Two']);
  });

  it('is rejected as a whole when two of its results for one call differ', async () => {
    await using on = await openServerFixture(scriptedChat);
    const session = await newSession(on, { tools: [deploy] });
    await post(on, session, { events: [userMessage('call deploy prod')] });
    const call = await pendingCall(on, session);
    const answers = (one: string, other: string): JsonObject[] =>
      [one, other].map((text) => customToolResult(call, text));
    const rejected = await post(on, session, {
      events: [userMessage('Before'), ...answers('done', 'not done')],
    });
    assert.equal(rejected.status, 400);
    assert.deepEqual(
      (await on.runtime.pending(session)).map(({ callId }) => callId),
      [call],
    );
    const accepted = await post(on, session, { events: answers('done', 'done') });
    assert.equal(accepted.status, 200, 'two equal results count as one');
    const { data } = (await accepted.json()) as { data: readonly JsonObject[] };
    assert.equal(data[0]?.['id'], data[1]?.['id']);
    const log = await untilTurns(on, session, 1);
    assert.equal(log.filter(({ type }) => type === 'tool.result').length, 1);
    assert.equal(log.filter(({ type }) => type === 'user.message').length, 1);
  });

  for (const moment of ['beforeCommit', 'afterCommit'] as const)
    it(`is stored completely or not at all when the store fails ${moment}, and a retry adds nothing`, async () => {
      let writesUntilFailure = Infinity;
      const fail = (): void => {
        if (--writesUntilFailure === 0) throw new Error('the process crashes here');
      };
      for (let write = 1; ; write++) {
        writesUntilFailure = Infinity;
        const store = new MemoryStore({ failpoints: { [moment]: fail } });
        await using on = await openServerFixture(scriptedChat, { store });
        const session = await newSession(on);
        await on.runtime.pause(session);
        const body = { events: [userMessage('One'), userMessage('Two'), userMessage('Three')] };
        writesUntilFailure = write;
        const response = await post(on, session, body, { 'idempotency-key': 'k' });
        const wasReached = writesUntilFailure <= 0;
        writesUntilFailure = Infinity;
        const row = await store.find(toSessionKey(session));
        assert.ok(row !== undefined);
        const waiting = await countWaitingMessages(on, store, session);
        assert.ok([0, 3].includes(waiting), `${waiting} of 3 after write ${write}`);
        if (response.status === 200) assert.equal(waiting, 3);
        const retried = await post(on, session, body, { 'idempotency-key': 'k' });
        assert.equal(retried.status, 200);
        await on.runtime.resume(session);
        await post(on, session, { events: [userMessage('Last')] });
        assert.deepEqual(await messagesUntil(on, session, 'Last'), ['One', 'Two', 'Three', 'Last']);
        if (!wasReached) break;
      }
    });

  it('interrupts the turn of an earlier message and not that of a later message', async () => {
    await using on = await openServerFixture(scriptedChat);
    const session = await newSession(on);
    await post(on, session, { events: [userMessage('slowly 500')] });
    await waitUntil(async () =>
      (await on.log(session)).some(({ type }) => type === 'turn.started'),
    );
    await post(on, session, { events: [{ type: 'user.interrupt' }, userMessage('Now this')] });
    const log = await untilTurns(on, session, 2);
    assert.deepEqual(
      log.flatMap((event) => (event.type === 'turn.ended' ? [event.stopReason] : [])),
      ['interrupted', 'end_turn'],
    );
  });
});

describe('a session with initial events', () => {
  it('is created with all events, or not at all', async () => {
    let writesUntilFailure = Infinity;
    const fail = (): void => {
      if (--writesUntilFailure === 0) throw new Error('the process crashes here');
    };
    for (let write = 1; ; write++) {
      writesUntilFailure = Infinity;
      const store = new MemoryStore({ failpoints: { afterCommit: fail } });
      await using on = await openServerFixture(scriptedChat, { store });
      const agent = await newAgent(on);
      const body = { agent, initial_events: [userMessage('One'), userMessage('Two')] };
      writesUntilFailure = write;
      const response = await create(on, body, 'k');
      const wasReached = writesUntilFailure <= 0;
      writesUntilFailure = Infinity;
      const listed = await json(`${on.url}/v1/sessions`);
      const data = listed['data'] as readonly { id: string }[];
      assert.ok(data.length <= 1);
      const stored = await store.list({});
      assert.equal(stored.length, data.length, 'no session exists that is not listed');
      for (const { id } of data)
        assert.deepEqual(await messagesUntil(on, id, 'Two'), ['One', 'Two']);
      const retried = await create(on, body, 'k');
      assert.equal(retried.status, 200);
      const { id } = (await retried.json()) as { id: string };
      assert.deepEqual(await messagesUntil(on, id, 'Two'), ['One', 'Two']);
      assert.equal((await store.list({})).length, 1, `after write ${write}`);
      if (!wasReached) {
        assert.equal(response.status, 200);
        break;
      }
    }
  });

  it('is not created when one event is invalid', async () => {
    await using on = await openServerFixture(scriptedChat);
    const agent = await newAgent(on);
    const initial_events = [userMessage('One'), { type: 'user.interrupt' }];
    assert.equal((await create(on, { agent, initial_events }, 'k')).status, 400);
    assert.equal((await on.store.list({})).length, 0);
  });
});

describe('a fork', () => {
  it('is created once, even if the process crashes during the request', async () => {
    let writesUntilFailure = Infinity;
    const fail = (): void => {
      if (--writesUntilFailure === 0) throw new Error('the process dies here');
    };
    for (let write = 1; ; write++) {
      writesUntilFailure = Infinity;
      const store = new MemoryStore({ failpoints: { afterCommit: fail } });
      await using on = await openServerFixture(scriptedChat, { store });
      const session = await newSession(on);
      await post(on, session, { events: [userMessage('One')] });
      await untilTurns(on, session, 1);
      const fork = async (): Promise<Response> =>
        fetch(`${on.url}/v1/sessions/${session}/fork`, {
          method: 'POST',
          headers: { 'idempotency-key': 'k', 'content-type': 'application/json' },
          body: '{}',
        });
      writesUntilFailure = write;
      await fork();
      const wasReached = writesUntilFailure <= 0;
      writesUntilFailure = Infinity;
      assert.equal((await fork()).status, 200);
      const { data } = await json(`${on.url}/v1/sessions`);
      assert.equal((data as readonly unknown[]).length, 2, `after write ${write}`);
      assert.equal((await store.list({})).length, 2, `after write ${write}`);
      if (!wasReached) break;
    }
  });
});

describe('an idempotency key', () => {
  it('with a different body is a conflict, also later, and changes nothing', async () => {
    await using on = await openServerFixture(scriptedChat);
    const session = await newSession(on);
    const key = { 'idempotency-key': 'one' };
    assert.equal((await post(on, session, { events: [userMessage('One')] }, key)).status, 200);
    const other = await post(on, session, { events: [userMessage('Other')] }, key);
    assert.deepEqual([other.status, other.headers.get('x-should-retry')], [409, 'false']);
    const { error } = (await other.json()) as { error: JsonObject };
    assert.equal(error['type'], 'invalid_request_error');
    assert.match(String(error['message']), /"one" was sent with another body/);
    assert.equal((await post(on, session, { events: [userMessage('One')] }, key)).status, 200);
    await post(on, session, { events: [userMessage('Last')] });
    assert.deepEqual(await messagesUntil(on, session, 'Last'), ['One', 'Last']);
  });

  it('applies to each route, across processes, and to concurrent requests', async () => {
    using folder = temporaryFolder();
    const path = `sqlite:${folder.path}/store.db`;
    {
      await using on = await openServerFixture(scriptedChat, { store: await openStore(path) });
      const responses = await Promise.all(
        ['A', 'B'].map(async (name) =>
          postWithKey(on, '/v1/agents', { name, model: 'gemini-2.5-flash' }),
        ),
      );
      assert.deepEqual(
        responses.map(({ status }) => status).toSorted((a, b) => a - b),
        [200, 409],
      );
      assert.equal((await postWithKey(on, '/v1/environments', { name: 'One' })).status, 200);
    }
    await using on = await openServerFixture(scriptedChat, { store: await openStore(path) });
    assert.equal((await postWithKey(on, '/v1/environments', { name: 'Two' })).status, 409);
    assert.equal((await postWithKey(on, '/v1/environments', { name: 'One' })).status, 200);
    const { data } = await json(`${on.url}/v1/environments`);
    assert.equal((data as readonly unknown[]).length, 1);
  });

  it('of a rejected request can be reused, and expires after a day', async () => {
    const clock = new SimulatedClock(Date.now());
    await using on = await openServerFixture(scriptedChat, { server: { clock } });
    const session = await newSession(on);
    const key = { 'idempotency-key': 'one' };
    const invalidEvent = { type: 'user.tool_confirmation', tool_use_id: 'none', result: 'allow' };
    assert.equal((await post(on, session, { events: [invalidEvent] }, key)).status, 400);
    assert.equal((await post(on, session, { events: [userMessage('One')] }, key)).status, 200);
    assert.equal((await post(on, session, { events: [userMessage('Two')] }, key)).status, 409);
    clock.advance(24 * 60 * 60_000);
    assert.equal((await post(on, session, { events: [userMessage('Two')] }, key)).status, 200);
    assert.deepEqual(await messagesUntil(on, session, 'Two'), ['One', 'Two']);
  });
});

async function postWithKey(on: ServerFixture, path: string, body: object): Promise<Response> {
  return fetch(on.url + path, {
    method: 'POST',
    headers: { 'idempotency-key': 'one', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function create(on: ServerFixture, body: object, key: string): Promise<Response> {
  return fetch(`${on.url}/v1/sessions`, {
    method: 'POST',
    headers: { 'idempotency-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

function customToolResult(call: string, text: string): JsonObject {
  return {
    type: 'user.custom_tool_result',
    custom_tool_use_id: call,
    content: [{ type: 'text', text }],
  };
}

async function post(
  on: ServerFixture,
  session: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${on.url}/v1/sessions/${session}/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

async function newAgent(on: ServerFixture, more: object = {}): Promise<string> {
  const { id } = await on.client.beta.agents.create({
    name: 'A',
    model: 'gemini-2.5-flash',
    ...more,
  });
  return id;
}

async function newSession(on: ServerFixture, more: object = {}): Promise<string> {
  const { id } = await on.client.beta.sessions.create({ agent: await newAgent(on, more) } as never);
  return id;
}

function toSessionKey(sessionId: string): { appName: string; userId: string; sessionId: string } {
  return { appName: 'managed', userId: 'default', sessionId };
}

/** Number of accepted messages that have no turn yet, in the inbox or in the net. */
async function countWaitingMessages(
  on: ServerFixture,
  store: MemoryStore,
  session: string,
): Promise<number> {
  const inbox = (await store.inbox(toSessionKey(session), 0)).filter(
    ({ input }) => input.place === 'user.in',
  );
  let injected = 0;
  for await (const { records } of store.steps(toSessionKey(session), 0))
    for (const record of records)
      if (record.kind === 'injected' && record.give.some(([place]) => place === 'user.in'))
        injected++;
  const logged = (await on.log(session)).filter(({ type }) => type === 'user.message').length;
  return inbox.length + injected - logged;
}

async function pendingCall(on: ServerFixture, session: string): Promise<string> {
  for (;;) {
    const [call] = await on.runtime.pending(session);
    if (call !== undefined) return call.callId;
    await setImmediate();
  }
}

async function waitUntil(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await setImmediate();
}

async function untilTurns(
  on: ServerFixture,
  session: string,
  count: number,
): Promise<readonly LogEvent[]> {
  for (;;) {
    const log = await on.log(session);
    if (log.filter(({ type }) => type === 'turn.ended').length >= count) return log;
    await setImmediate();
  }
}

async function messagesUntil(
  on: ServerFixture,
  session: string,
  last: string,
): Promise<readonly string[]> {
  for (;;) {
    const log = await on.log(session);
    const texts = log.flatMap((event) =>
      event.type === 'user.message'
        ? event.content.parts.map((part) => ('text' in part ? part.text : ''))
        : [],
    );
    if (texts.at(-1) === last) return texts;
    await setImmediate();
  }
}

async function json(url: string): Promise<JsonObject> {
  return (await (await fetch(url)).json()) as JsonObject;
}
