import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import { systemClock } from '../../src/net/index.ts';
import { Metrics } from '../../src/server/index.ts';
import { openServerFixture } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';

const LONG = 'x'.repeat(900_000);
/** More data than the buffers on both ends of a connection hold. */
const MESSAGES = 10;

test('a stalled reader is disconnected and does not delay other readers', async () => {
  const metrics = new Metrics(systemClock);
  await using on = await openServerFixture(scriptedChat, {
    server: { metrics, readerTimeoutMs: 1000 },
  });
  const client = createClient({ baseUrl: on.url });
  const { id: agent } = await client.agents.create({ name: 'A', model: 'gemini-2.5-flash' });
  const { id } = await client.sessions.create({ agent });
  const stalled = connect(Number(new URL(on.url).port), '127.0.0.1');
  // The test expects its errors.
  stalled.on('error', () => {});
  stalled.pause();
  stalled.write(
    `GET /v1/sessions/${id}/events/stream?from_seq=0 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`,
  );
  while ((await readMetrics(on.url)).readers !== 1) {
    // Poll until the stream is open.
  }
  let messages = 0;
  const reading = (async () => {
    for await (const event of client.sessions.events(id)) {
      if (event.type === 'agent.message') messages++;
      if (messages === MESSAGES && event.type === 'session.status_idle') return;
    }
  })();
  for (let n = 0; n < MESSAGES; n++) await client.sessions.send(id, `${n} ${LONG}`);
  await reading;
  assert.equal(messages, MESSAGES);
  while ((await readMetrics(on.url)).readers !== 0) {
    // Poll until it is closed, which only the server can do.
  }
  stalled.destroy();
});

async function readMetrics(url: string): Promise<{ readonly readers: number }> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return { readers: Number(/^petrichor_stream_readers (\d+)$/m.exec(text)?.[1]) };
}
