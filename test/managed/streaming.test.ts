import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import { SubscriberTooSlowError } from '../../src/managed/index.ts';
import type { SessionEvent } from '../../src/managed/index.ts';
import { openManagedFixture } from './managed-fixture.ts';
import type { ManagedFixture } from './managed-fixture.ts';

const answering = { script: () => ({ text: 'Yes.' }) };

async function sendMessages(on: ManagedFixture, turns: number): Promise<void> {
  const { length } = await on.log();
  for (let n = 0; n < turns; n++) await on.send(`Message ${n}`);
  await untilSeq(on, length + turns * 4);
}

async function untilSeq(on: ManagedFixture, seq: number): Promise<void> {
  for await (const event of on.runtime.streamLog(on.id, 0))
    if (event.type !== 'partial' && event.type !== 'partial.reset' && event.seq >= seq) return;
}

test('a stream from any position delivers stored and new events in order, without gaps', async () => {
  await using on = await openManagedFixture(answering.script);
  const sending = sendMessages(on, 40);
  const readers = [0, 1, 7, 33].map(async (from) => {
    const numbers: number[] = [];
    for await (const event of on.runtime.streamLog(on.id, from)) {
      if (!('seq' in event)) continue;
      numbers.push(event.seq);
      if (event.seq === 160) break;
    }
    return numbers.map((seq, index) => seq - from - index);
  });
  const steps = await Promise.all(readers);
  await sending;
  for (const [index, numbers] of steps.entries())
    assert.ok(
      numbers.every((step) => step === 1),
      `reader ${index}`,
    );
});

test('a stream without a position starts with the next event', async () => {
  await using on = await openManagedFixture(answering.script);
  await sendMessages(on, 2);
  const stream = on.runtime.streamEvents(on.id)[Symbol.asyncIterator]();
  const first = stream.next();
  await setImmediate();
  await on.send('Now');
  assert.deepEqual((await first).value, { seq: 10, type: 'status.running' });
  await stream.return?.();
});

test('a stalled reader is closed with its cursor, and other readers are not affected', async () => {
  await using on = await openManagedFixture(answering.script, { maxBuffered: 50 });
  await sendMessages(on, 1);
  const stalled = on.runtime.streamLog(on.id, 0)[Symbol.asyncIterator]();
  for (let n = 0; n < 4; n++) await stalled.next();
  // It has read all events, waits for the next one, and reads no more after that.
  const fifthEvent = stalled.next();
  const others = Array.from({ length: 100 }, async () => {
    let last: SessionEvent | undefined;
    let count = 0;
    for await (const event of on.runtime.streamEvents(on.id, 4)) {
      last = event;
      if (++count === 60) break;
    }
    return last?.seq;
  });
  await sendMessages(on, 20);
  const { value } = await fifthEvent;
  assert.equal(value?.type, 'user.message');
  await assert.rejects(
    async () => stalled.next(),
    (error: unknown) => error instanceof SubscriberTooSlowError && error.cursor === 5,
  );
  assert.deepEqual(new Set(await Promise.all(others)), new Set([84]));
  // Reading on from its cursor loses no event.
  const rest: number[] = [];
  for await (const event of on.runtime.streamLog(on.id, 5, { follow: false }))
    if ('seq' in event) rest.push(event.seq);
  assert.deepEqual(
    rest,
    Array.from({ length: 79 }, (_, index) => index + 6),
  );
});

test('a slow reader of stored events is not closed', async () => {
  await using on = await openManagedFixture(answering.script, { maxBuffered: 10 });
  await sendMessages(on, 20);
  let count = 0;
  for await (const _ of on.runtime.streamLog(on.id, 0, { follow: false })) {
    await setImmediate();
    count++;
  }
  assert.equal(count, 80);
});

test('partial answers are streamed on request and not stored', async () => {
  await using on = await openManagedFixture([
    { text: 'One two.', deltas: ['One ', 'two.'], delayMs: 20 },
  ]);
  const texts: string[] = [];
  const reading = (async () => {
    for await (const event of on.runtime.streamLog(on.id, 0, { partials: true })) {
      if (event.type === 'partial') texts.push(event.text);
      if (event.type === 'turn.ended') break;
    }
  })();
  await on.send('Hi');
  await reading;
  assert.deepEqual(texts, ['One ', 'two.']);
  assert.ok((await on.types()).every((type) => type !== 'partial'));
});

test('a stream ends when its signal is aborted', async () => {
  await using on = await openManagedFixture(answering.script);
  const abortController = new AbortController();
  const reading = (async () => {
    for await (const _ of on.runtime.streamEvents(on.id, 0, { signal: abortController.signal }));
  })();
  await setImmediate();
  abortController.abort();
  await reading;
});
