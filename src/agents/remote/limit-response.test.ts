import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitResponse } from './limit-response.ts';

const reply = (chunks: readonly string[], type = 'application/json'): Response =>
  new Response(ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk))), {
    status: 201,
    headers: { 'content-type': type },
  });

test('a response up to the limit passes, and a larger one fails with a typed error', async () => {
  const passed = await limitResponse(reply(['{"a":', '1}']), 7);
  assert.equal(passed.status, 201);
  assert.deepEqual(await passed.json(), { a: 1 });
  await assert.rejects(limitResponse(reply(['{"a":', '1}']), 6), { code: 'remote_agent' });
});

test('the events of a stream are limited one by one', async () => {
  const stream = 'text/event-stream';
  const events = ['data: 1\n\ndata: 2\n\nda', 'ta: 3\n', '\ndata: 4\n\n'];
  const passed = await limitResponse(reply(events, stream), 8);
  assert.equal(await passed.text(), events.join(''));
  const long = await limitResponse(reply(['data: 1\n\ndata: ', '2', '345\n\n'], stream), 8);
  await assert.rejects(long.text(), { code: 'remote_agent' });
});
