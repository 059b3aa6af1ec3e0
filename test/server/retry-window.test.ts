import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import Anthropic from '@anthropic-ai/sdk';
import { contentText } from '../../src/core/index.ts';
import type { JsonObject } from '../../src/core/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openStore } from '../../src/store/index.ts';
import { PoolingProxy } from './pooling-proxy.ts';
import { userMessage, openServerFixture } from './server-fixture.ts';
import type { ServerFixture } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';
import { temporaryFolder } from './temporary-folder.ts';

describe('a retry of a stock client without an idempotency key', () => {
  it('takes effect once behind a pooling proxy that lost the response, for sends and for created resources', async () => {
    await using on = await openServerFixture(scriptedChat);
    await using proxy = await PoolingProxy.start(
      () => on.url,
      (reply) => reply % 2 === 1,
    );
    const { beta } = new Anthropic({ baseURL: proxy.url, apiKey: 'none' });
    const agent = await beta.agents.create({ name: 'A', model: 'gemini-2.5-flash' });
    const environment = await beta.environments.create({ name: 'Here' });
    const session = await beta.sessions.create({
      agent: agent.id,
      environment_id: environment.id,
      initial_events: [userMessage('One')],
    });
    for (const text of ['Two', 'Three', 'Four'])
      await beta.sessions.events.send(session.id, { events: [userMessage(text)] });
    assert.equal(proxy.lost, 6);
    assert.deepEqual(await waitForTexts(on, session.id, 4), ['One', 'Two', 'Three', 'Four']);
    for (const path of ['agents', 'environments', 'sessions'])
      assert.equal((await list(on, path)).length, 1, path);
  });

  it('takes effect once after a crash of the server, and gets the same response', async () => {
    using folder = temporaryFolder();
    const path = `sqlite:${folder.path}/store.db`;
    const before = await openServerFixture(scriptedChat, { store: await openStore(path) });
    const session = await newSession(before);
    const first = await post(before, session, 'Hi', 0);
    await waitForOutcomes(before);
    await before[Symbol.asyncDispose]();
    await using after = await openServerFixture(scriptedChat, { store: await openStore(path) });
    assert.deepEqual(await post(after, session, 'Hi', 1), first);
    assert.deepEqual(await waitForTexts(after, session, 1), ['Hi']);
  });

  it('is a new request after the window, with another body, path or key, and without a retry count', async () => {
    const clock = new SimulatedClock(Date.now());
    await using on = await openServerFixture(scriptedChat, {
      server: { clock, retryWindowMs: 5000 },
    });
    const session = await newSession(on);
    const first = await post(on, session, 'Hi', 0);
    await waitForOutcomes(on);
    clock.advance(4999);
    assert.deepEqual(await post(on, session, 'Hi', 1), first);
    assert.deepEqual(await post(on, session, 'Hi', 1), first, 'a proxy may send a retry twice');
    assert.notDeepEqual(await post(on, session, 'Ho', 1), first);
    const second = await post(on, session, 'Hi', 0);
    assert.notDeepEqual(second, first);
    await waitForOutcomes(on);
    clock.advance(5000);
    const afterWindow = await post(on, session, 'Hi', 1);
    assert.notDeepEqual(afterWindow, second);
    const other = await newSession(on);
    assert.notDeepEqual(await post(on, other, 'Hi', 1), afterWindow);
    const { token } = await on.server.keys.create('default', 'second');
    assert.notDeepEqual(await post(on, session, 'Hi', 1, token), afterWindow);
    assert.equal((await waitForTexts(on, session, 5)).length, 5);
  });

  it('is recognized only by its connection when the window is 0', async () => {
    await using on = await openServerFixture(scriptedChat, { server: { retryWindowMs: 0 } });
    const session = await newSession(on);
    const first = await post(on, session, 'Hi', 0);
    await waitForOutcomes(on);
    assert.notDeepEqual(await post(on, session, 'Hi', 1), first);
    assert.deepEqual(await waitForTexts(on, session, 2), ['Hi', 'Hi']);
  });

  it('is not recognized after its record was swept', async () => {
    const clock = new SimulatedClock(Date.now());
    await using on = await openServerFixture(scriptedChat, { server: { clock } });
    const session = await newSession(on);
    for (const text of ['a', 'b', 'c']) await post(on, session, text, 0);
    await waitForOutcomes(on);
    const countRecords = async (): Promise<number> =>
      (await on.store.documents({ kind: 'sent-request' })).length;
    assert.ok((await countRecords()) >= 3);
    while ((await countRecords()) > 0) {
      clock.advance(2 * 60_000);
      await waitForOutcomes(on);
    }
  });

  it('rejects a retryWindowMs that is negative or not finite', async () => {
    for (const retryWindowMs of [-1, Number.NaN, Infinity])
      await assert.rejects(
        openServerFixture(scriptedChat, { server: { retryWindowMs } }),
        /retryWindowMs/,
      );
  });
});

/** Sends like a stock client on its n-th attempt; the response was written to a connection that stays open. */
async function post(
  { server, url }: ServerFixture,
  session: string,
  text: string,
  count: number,
  token = 'none',
): Promise<unknown> {
  const request = new Request(`${url}/v1/sessions/${session}/events`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': token,
      'x-stainless-retry-count': String(count),
    },
    body: JSON.stringify({ events: [userMessage(text)] }),
  });
  const response = await server.fetch(request, { delivered: Promise.resolve(true) });
  assert.equal(response.status, 200);
  return response.json();
}

/** Waits until the outcome of the responses is in the store. */
async function waitForOutcomes(on: ServerFixture): Promise<void> {
  for (let turn = 0; turn < 20; turn++) {
    await on.store.document('health', 'none');
    await setImmediate();
  }
}

async function newSession(on: ServerFixture): Promise<string> {
  const agent = await on.client.beta.agents.create({ name: 'A', model: 'gemini-2.5-flash' });
  const { id } = await on.client.beta.sessions.create({ agent: agent.id } as never);
  return id;
}

async function waitForTexts(
  on: ServerFixture,
  session: string,
  count: number,
): Promise<readonly string[]> {
  for (;;) {
    const log = await on.log(session);
    const texts = log.flatMap((event) =>
      event.type === 'user.message' ? [contentText(event.content)] : [],
    );
    if (texts.length >= count && log.at(-1)?.type === 'turn.ended') return texts;
    await setImmediate();
  }
}

async function list(on: ServerFixture, path: string): Promise<readonly unknown[]> {
  const page = (await (await fetch(`${on.url}/v1/${path}`)).json()) as JsonObject;
  return page['data'] as readonly unknown[];
}
