import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { JsonObject } from '../../src/core/index.ts';
import { openStore } from '../../src/store/index.ts';
import { deploy } from './conformance-cases.ts';
import { userMessage, openServerFixture } from './server-fixture.ts';
import type { ServerFixture } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';
import { temporaryFolder } from './temporary-folder.ts';

type Event = JsonObject & { id: string; type: string; seq: number; processed_at: string | null };

describe('an accepted event that is not processed yet', () => {
  it('is listed after the log with processed_at null, in the order of acceptance', async () => {
    await using on = await openServerFixture(scriptedChat);
    const session = await newSession(on);
    await send(on, session, [userMessage('Hi')]);
    await untilIdle(on, session, 1);
    await on.runtime.pause(session);
    const sent = await send(on, session, [userMessage('One'), userMessage('Two')]);
    const listed = await list(on, session);
    assert.deepEqual(
      listed.slice(-2).map(({ id, type, processed_at }) => ({ id, type, processed_at })),
      sent.map(({ id, type }) => ({ id, type, processed_at: null })),
    );
    const listedMessage = listed.at(-2);
    assert.deepEqual(listedMessage?.['content'], sent[0]?.['content']);
    const { last_seq } = await json(`${on.url}/v1/sessions/${session}`);
    assert.ok(listed.slice(-2).every(({ seq }) => seq === last_seq));
    assert.ok(listed.slice(0, -2).every(({ processed_at }) => processed_at !== null));
    assert.deepEqual(await list(on, session, 'order=desc'), listed.toReversed());
    assert.deepEqual(
      (await list(on, session, 'types[]=user.message')).map(
        ({ processed_at }) => processed_at !== null,
      ),
      [true, false, false],
    );
  });

  it('is listed while an earlier turn runs, also by another process', async () => {
    using folder = temporaryFolder();
    const path = `sqlite:${folder.path}/store.db`;
    await using on = await openServerFixture(scriptedChat, { store: await openStore(path) });
    await using other = await openServerFixture(scriptedChat, { store: await openStore(path) });
    const session = await newSession(on, { tools: [deploy] });
    await send(on, session, [userMessage('call deploy prod')]);
    await findEvent(on, session, 'agent.custom_tool_use');
    const outcome = { type: 'user.define_outcome', description: 'A poem' };
    const [message, outcomeEvent] = await send(on, session, [userMessage('Then this'), outcome]);
    // The message is now a token of the net and has left the inbox.
    while ((await other.store.inbox(toSessionKey(session), 0)).length > 0) await setImmediate();
    for (const fixture of [on, other]) {
      const last = (await list(fixture, session)).slice(-2);
      assert.deepEqual(
        last.map(({ id, processed_at }) => [id, processed_at]),
        [
          [message?.id, null],
          [outcomeEvent?.id, null],
        ],
      );
      assert.equal(last[1]?.['outcome_id'], outcomeEvent?.['outcome_id']);
    }
    const toolUse = await findEvent(on, session, 'agent.custom_tool_use');
    await send(on, session, [customToolResult(toolUse.id, 'done')]);
    await untilIdle(on, session, 2);
    const listed = await list(other, session);
    const ids = listed.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    const processed = listed.find(({ id }) => id === message?.id);
    assert.equal(typeof processed?.processed_at, 'string');
  });

  it('works as a cursor before and after it is processed, without repeating or losing events', async () => {
    await using on = await openServerFixture(scriptedChat);
    const session = await newSession(on, { tools: [deploy] });
    await send(on, session, [userMessage('call deploy prod')]);
    const toolUse = await findEvent(on, session, 'agent.custom_tool_use');
    await untilWaiting(on, session);
    const [message] = await send(on, session, [userMessage('Then this')]);
    assert.ok(message !== undefined);
    const before = await list(on, session);
    assert.equal(before.at(-1)?.id, message.id);
    assert.deepEqual(await list(on, session, `after_id=${message.id}`), []);
    const byQuery = await open(on, session, `after_id=${message.id}`);
    const byHeader = await open(on, session, '', { 'last-event-id': message.id });
    await send(on, session, [customToolResult(toolUse.id, 'done')]);
    await untilIdle(on, session, 2);
    const fullList = await list(on, session);
    const expected = fullList.filter(({ id }) => !before.some((seen) => seen.id === id));
    for (const stream of [byQuery, byHeader])
      assert.deepEqual(
        await stream(expected.length),
        expected.map(({ id }) => id),
      );
    // The message now has a position in the log.
    const after = fullList.slice(fullList.findIndex(({ id }) => id === message.id) + 1);
    assert.deepEqual(await list(on, session, `after_id=${message.id}`), after);
    const stream = await open(on, session, `after_id=${message.id}`);
    assert.deepEqual(
      await stream(after.length),
      after.map(({ id }) => id),
    );
  });

  for (const order of ['asc', 'desc'] as const)
    it(`is listed once when it is processed between two pages, order ${order}`, async () => {
      await using on = await openServerFixture(scriptedChat);
      const session = await newSession(on, { tools: [deploy] });
      await send(on, session, [userMessage('call deploy prod')]);
      const toolUse = await findEvent(on, session, 'agent.custom_tool_use');
      await untilWaiting(on, session);
      await send(on, session, [userMessage('One'), userMessage('Two')]);
      const all = await list(on, session);
      const pages: Event[] = [];
      let cursor = '';
      const isStopped = (): boolean => pages.some(({ processed_at }) => processed_at === null);
      do {
        const page = await json(
          `${on.url}/v1/sessions/${session}/events?limit=1&order=${order}${cursor}`,
        );
        pages.push(...(page['data'] as readonly Event[]));
        cursor =
          page['next_page'] === null
            ? ''
            : `&page=${encodeURIComponent(String(page['next_page']))}`;
        // Once the first accepted event was listed, both are processed.
        if (isStopped() && pages.filter(({ processed_at }) => processed_at === null).length === 1) {
          await send(on, session, [customToolResult(toolUse.id, 'done')]);
          await untilIdle(on, session, 3);
        }
      } while (cursor !== '');
      const ids = pages.map(({ id }) => id);
      assert.equal(new Set(ids).size, ids.length, 'no event is listed twice');
      const missing = all.filter(({ id }) => !ids.includes(id));
      assert.deepEqual(
        missing.map(({ type }) => type),
        order === 'asc' ? [] : ['user.message'],
      );
      if (order === 'asc') {
        const fullList = await list(on, session);
        assert.deepEqual(ids.toSorted(), fullList.map(({ id }) => id).toSorted());
      }
    });

  it('keeps its id in the log if it is an interrupt', async () => {
    await using on = await openServerFixture(scriptedChat);
    const session = await newSession(on);
    await send(on, session, [userMessage('slowly 500')]);
    await findEvent(on, session, 'session.status_running');
    const [interrupt] = await send(on, session, [{ type: 'user.interrupt' }]);
    await untilIdle(on, session, 1);
    const [idle] = await send(on, session, [{ type: 'user.interrupt' }]);
    await untilIdle(on, session, 2);
    const logged = (await list(on, session)).filter(({ type }) => type === 'user.interrupt');
    assert.deepEqual(
      logged.map(({ id }) => id),
      [interrupt?.id, idle?.id],
    );
    const after = await list(on, session, `after_id=${interrupt?.id}`);
    assert.equal(after[0]?.type, 'session.status_idle');
  });

  it('is rejected as a cursor of another session', async () => {
    await using on = await openServerFixture(scriptedChat);
    const session = await newSession(on);
    const other = await newSession(on);
    const [message] = await send(on, other, [userMessage('Hi')]);
    for (const path of ['events', 'events/stream']) {
      const response = await fetch(
        `${on.url}/v1/sessions/${session}/${path}?after_id=${message?.id}`,
      );
      assert.equal(response.status, 400);
      assert.match(await response.text(), /after_id.*is not an event of this session/);
    }
  });
});

function toSessionKey(sessionId: string): { appName: string; userId: string; sessionId: string } {
  return { appName: 'managed', userId: 'default', sessionId };
}

function customToolResult(id: string, text: string): JsonObject {
  return {
    type: 'user.custom_tool_result',
    custom_tool_use_id: id,
    content: [{ type: 'text', text }],
  };
}

async function newSession(on: ServerFixture, more: object = {}): Promise<string> {
  const agent = await on.client.beta.agents.create({
    name: 'A',
    model: 'gemini-2.5-flash',
    ...more,
  });
  const { id } = await on.client.beta.sessions.create({ agent: agent.id } as never);
  return id;
}

async function send(
  on: ServerFixture,
  session: string,
  events: readonly object[],
): Promise<Event[]> {
  const response = await fetch(`${on.url}/v1/sessions/${session}/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ events }),
  });
  assert.equal(response.status, 200);
  return ((await response.json()) as { data: Event[] }).data;
}

async function list(on: ServerFixture, session: string, query = ''): Promise<Event[]> {
  const { data } = await json(`${on.url}/v1/sessions/${session}/events?limit=1000&${query}`);
  return data as unknown as Event[];
}

async function findEvent(on: ServerFixture, session: string, type: string): Promise<Event> {
  for (;;) {
    const found = (await list(on, session)).find((event) => event.type === type);
    if (found !== undefined) return found;
  }
}

async function untilIdle(on: ServerFixture, session: string, turns: number): Promise<void> {
  while ((await on.log(session)).filter(({ type }) => type === 'turn.ended').length < turns)
    await setImmediate();
}

async function untilWaiting(on: ServerFixture, session: string): Promise<void> {
  while (!(await on.log(session)).some(({ type }) => type === 'turn.waiting')) await setImmediate();
}

/** Opens a stream; the returned function reads the ids of that many events. */
async function open(
  on: ServerFixture,
  session: string,
  query: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<(count: number) => Promise<readonly string[]>> {
  const response = await fetch(`${on.url}/v1/sessions/${session}/events/stream?${query}`, {
    headers,
  });
  assert.equal(response.status, 200);
  assert.ok(response.body !== null);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  return async (count) => {
    let text = '';
    const ids = (): readonly string[] =>
      [...text.matchAll(/^id: (\w+)$/gm)].map(([, id = '']) => id);
    while (ids().length < count) {
      const { done, value = '' } = await reader.read();
      assert.ok(!done, 'the stream has not ended');
      text += value;
    }
    await reader.cancel();
    return ids();
  };
}

async function json(url: string): Promise<JsonObject> {
  return (await (await fetch(url)).json()) as JsonObject;
}
