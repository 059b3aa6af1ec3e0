import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readServerSentEvents } from './server-sent-events.ts';

async function read(chunks: readonly string[]): Promise<{
  readonly events: readonly { readonly id?: string | undefined; readonly data: string }[];
  readonly activities: number;
}> {
  const body = ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk)));
  const events: { readonly id?: string | undefined; readonly data: string }[] = [];
  let activities = 0;
  for await (const { id, data } of readServerSentEvents(body, () => activities++))
    events.push({ id, data });
  return { events, activities };
}

test('events do not depend on how the stream is split, and every line ending is accepted', async () => {
  for (const end of ['\n', '\r\n', '\r']) {
    const lines = [
      ': open',
      '',
      'id: a',
      'event: message',
      'data: {"n":1}',
      '',
      'data: x',
      'data: y',
      '',
    ];
    const text = `${lines.join(end)}${end}: last${end}`;
    const expected = [
      { id: 'a', data: '{"n":1}' },
      { id: undefined, data: 'x\ny' },
    ];
    for (let at = 0; at <= text.length; at++) {
      const { events } = await read([text.slice(0, at), text.slice(at)]);
      assert.deepEqual(events, expected, `${JSON.stringify(end)} at ${at}`);
    }
  }
});

test('an event that the end of the stream cuts off is dropped, and comments count as activity', async () => {
  const { events, activities } = await read([': open\n\n', ': keep-alive\n\n', 'id: a\ndata: 1\n']);
  assert.deepEqual(events, []);
  assert.equal(activities, 3);
});
