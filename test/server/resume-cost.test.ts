import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, LogEvent } from '../../src/core/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { openServerFixture } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';

const MESSAGES = 400;
const RECONNECTS = 50;

/** Counts the log entries that are read. */
class CountingStore extends MemoryStore {
  reads = 0;

  override async *read(
    ...args: Parameters<MemoryStore['read']>
  ): AsyncGenerator<LogEvent, void, undefined> {
    for await (const event of super.read(...args)) {
      this.reads++;
      yield event;
    }
  }
}

test('a reader that resumes by event id does not read the whole log', async () => {
  const store = new CountingStore();
  await using on = await openServerFixture(scriptedChat, { store });
  const agent = await on.client.beta.agents.create({ name: 'A', model: 'gemini-2.5-flash' });
  const { id: session } = await on.client.beta.sessions.create({ agent: agent.id } as never);
  for (let n = 0; n < MESSAGES; n += 200)
    await on.client.beta.sessions.events.send(session, {
      events: Array.from({ length: 200 }, (_, k) => ({
        type: 'user.message' as const,
        content: [{ type: 'text' as const, text: `message ${n + k}` }],
      })),
    });
  const from = await fetch(`${on.url}/v1/sessions/${session}/events/stream?from_seq=0`);
  const events = await read(from, (all) => all.filter(isIdle).length === MESSAGES);
  const [middle, end] = [events[Math.floor(events.length / 2)], events.at(-2)];
  assert.ok(middle !== undefined && end !== undefined);

  store.reads = 0;
  for (let n = 0; n < RECONNECTS; n++) {
    const stream = await fetch(`${on.url}/v1/sessions/${session}/events/stream`, {
      headers: { 'last-event-id': end.id },
    });
    const [next] = await read(stream, (all) => all.length === 1);
    assert.equal(next?.id, events.at(-1)?.id);
  }
  // Each reader finds its event and reads from there.
  assert.ok(store.reads <= RECONNECTS * 8, `${store.reads} entries for ${RECONNECTS} readers`);

  store.reads = 0;
  const page = await json(`${on.url}/v1/sessions/${session}/events?limit=2&after_id=${middle.id}`);
  assert.equal((page['data'] as readonly unknown[]).length, 2);
  const last = await json(`${on.url}/v1/sessions/${session}/events?limit=2&order=desc`);
  assert.deepEqual(
    (last['data'] as readonly { id: string }[]).map(({ id }) => id),
    events
      .slice(-2)
      .toReversed()
      .map(({ id }) => id),
  );
  assert.ok(store.reads <= 300, `${store.reads} entries for two pages`);
  const many = await json(`${on.url}/v1/sessions/${session}/events?limit=100&order=desc`);
  assert.deepEqual(
    (many['data'] as readonly { id: string }[]).map(({ id }) => id),
    events
      .slice(-100)
      .toReversed()
      .map(({ id }) => id),
  );
});

interface Event {
  readonly id: string;
  readonly type: string;
}

function isIdle({ type }: Event): boolean {
  return type === 'session.status_idle';
}

async function read(
  response: Response,
  isEnough: (events: readonly Event[]) => boolean,
): Promise<readonly Event[]> {
  assert.ok(response.body !== null);
  const events: Event[] = [];
  let rest = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const frames = (rest + chunk).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const data = /^data: (.*)$/m.exec(frame)?.[1];
      if (data !== undefined) events.push(JSON.parse(data) as Event);
    }
    if (isEnough(events)) return events;
  }
  return events;
}

async function json(url: string): Promise<JsonObject> {
  return (await (await fetch(url)).json()) as JsonObject;
}
