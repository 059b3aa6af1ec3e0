import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import type { LogEvent, PartialEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Session } from '../session/session.ts';

const look = tool({
  name: 'look',
  description: 'Looks.',
  readOnly: true,
  execute: (_, { progress }) => {
    progress('looking');
    return 'seen';
  },
});

/** Calls a tool once per turn, then answers. */
const looker = (): Agent =>
  agent({
    name: 'looker',
    tools: [look],
    model: new ScriptedModel((_, turn) =>
      turn % 2 === 0 ? { toolCalls: [{ name: 'look' }] } : { text: 'one two three' },
    ),
  });

async function take(
  events: AsyncIterable<LogEvent | PartialEvent>,
  until: (event: LogEvent) => boolean,
): Promise<readonly LogEvent[]> {
  const taken: LogEvent[] = [];
  for await (const event of events) {
    if (!('seq' in event)) continue;
    taken.push(event);
    if (until(event)) break;
  }
  return taken;
}

async function readLog(session: Session): Promise<readonly LogEvent[]> {
  return take(session.events(0, { follow: false }), () => false);
}

async function sendMessages(session: Session, times: number): Promise<void> {
  for (let n = 0; n < times; n++) for await (const _ of session.send(`message ${n}`));
}

test('events() yields the rest of the log from any event, and follows it', async () => {
  await using runtime = await openRuntime({ agents: [looker()] });
  const session = await runtime.session('x');
  await sendMessages(session, 3);
  const before = await readLog(session);
  assert.deepEqual(
    before.map(({ seq }) => seq),
    before.map((_, index) => index + 1),
  );
  const last = before.length + 7;
  const live = Array.from({ length: before.length + 1 }, async (_, k) =>
    take(session.events(k), ({ seq }) => seq === last),
  );
  await sendMessages(session, 1);
  const fullLog = await readLog(session);
  assert.equal(fullLog.length, last);
  for (const [k, tail] of (await Promise.all(live)).entries())
    assert.deepEqual(tail, fullLog.slice(k), `from ${k}`);
  for (const { seq } of fullLog)
    assert.deepEqual(
      await take(session.events(seq, { follow: false }), () => false),
      fullLog.slice(seq),
    );
});

test('a hundred readers, one of them stalled, see every event once while twenty sessions run', async () => {
  await using runtime = await openRuntime({ agents: [looker()] });
  const sessions = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => runtime.session(`s${n}`)),
  );
  const last = 6 * 7;
  const isLast = ({ seq }: LogEvent): boolean => seq === last;
  const readers = Array.from({ length: 99 }, async (_, n) => {
    const session = sessions[n % sessions.length] ?? assert.fail();
    return { session, from: n % 5, tail: await take(session.events(n % 5), isLast) };
  });
  // One reader takes one event, then stalls until every session is done.
  const first = sessions[0] ?? assert.fail();
  const stalled = first.events()[Symbol.asyncIterator]();
  await Promise.all(sessions.map(async (session) => sendMessages(session, 6)));
  for (const { session, from, tail } of await Promise.all(readers))
    assert.deepEqual(tail, (await readLog(session)).slice(from));
  const slowReads: LogEvent[] = [];
  while (slowReads.length < last) {
    const { value } = await stalled.next();
    if (value !== undefined && 'seq' in value) slowReads.push(value);
  }
  assert.deepEqual(slowReads, await readLog(first));
});

test('a reader that falls far behind continues from the store, without a gap', async () => {
  const verbose = agent({
    name: 'chatter',
    // Twelve thousand partials: more than the buffer of a slow reader holds.
    model: new ScriptedModel(() => ({ text: 'x'.repeat(12_000), deltas: 12_000 })),
  });
  await using runtime = await openRuntime({ agents: [verbose] });
  const session = await runtime.session('x');
  const slow = session.events()[Symbol.asyncIterator]();
  const first = slow.next();
  await sendMessages(session, 2);
  const log = await readLog(session);
  assert.deepEqual((await first).value, log[0]);
  const read: LogEvent[] = [];
  while (read.length < log.length - 1) {
    const { value } = await slow.next();
    if (value !== undefined && 'seq' in value) read.push(value);
  }
  assert.deepEqual(read, log.slice(1));
});

test('an abort signal ends the read at once', async () => {
  await using runtime = await openRuntime({ agents: [looker()] });
  const session = await runtime.session('x');
  await sendMessages(session, 1);
  const aborted = AbortSignal.abort();
  assert.deepEqual(await take(session.events(0, { signal: aborted }), () => false), []);
  const controller = new AbortController();
  const seen = take(session.events(0, { signal: controller.signal }), ({ type }) => {
    if (type === 'turn.ended') setImmediate(() => controller.abort());
    return false;
  });
  assert.equal((await seen).length, 7);
});

test('closing the runtime ends every read', async () => {
  const runtime = await openRuntime({ agents: [looker()] });
  const session = await runtime.session('x');
  await sendMessages(session, 1);
  const reading = take(session.events(), () => false);
  await runtime.close();
  assert.equal((await reading).length, 7);
});

test('partials of an answer come before it and join to it, and progress names its call', async () => {
  await using runtime = await openRuntime({ agents: [looker()] });
  const session = await runtime.session('x');
  const all: (LogEvent | PartialEvent)[] = [];
  for await (const event of session.send('hello')) all.push(event);
  const text = all.flatMap((event) =>
    event.type === 'partial' && event.kind === 'text' ? [event.text] : [],
  );
  assert.deepEqual(text, ['one', ' two', ' three']);
  const answered = all.findLastIndex(({ type }) => type === 'agent.message');
  assert.ok(all.slice(answered).every(({ type }) => type !== 'partial'));
  const [call] = all.filter((event) => event.type === 'tool.call');
  const [progress] = all.filter((event) => event.type === 'partial' && event.kind === 'progress');
  assert.equal(
    progress?.type === 'partial' && progress.callId,
    call?.type === 'tool.call' && call.callId,
  );
  assert.ok((await readLog(session)).every(({ type }) => type !== ('partial' as never)));
});

test('a new attempt of a model is announced, and resets the partials of the previous attempt', async () => {
  const clock = new SimulatedClock(1_000);
  const retrying = agent({
    name: 'stutterer',
    model: new ScriptedModel([{ text: 'half of it', error: { kind: 'overloaded', attempts: 1 } }]),
  });
  await using runtime = await openRuntime({ agents: [retrying], clock });
  const session = await runtime.session('x');
  let text = '';
  const types: string[] = [];
  for await (const event of session.send('hello')) {
    types.push(event.type);
    if (event.type === 'partial') text += event.text;
    if (event.type === 'partial.reset') text = '';
    // Nothing happens until the retry is due.
    if (text === 'half of it' && !types.includes('partial.reset'))
      setImmediate(() => clock.advance(60_000));
  }
  assert.equal(text, 'half of it');
  assert.equal(types.filter((type) => type === 'partial.reset').length, 1);
  assert.ok(types.indexOf('partial.reset') > types.indexOf('partial'));
  assert.equal(types.filter((type) => type === 'model.attempt').length, 1);
  assert.deepEqual(types.slice(-2), ['agent.message', 'turn.ended']);
});

test("two sessions of one runtime never see each other's partials", async () => {
  await using runtime = await openRuntime({ agents: [looker()] });
  const [a, b] = [await runtime.session('a'), await runtime.session('b')];
  const controller = new AbortController();
  let seen = 0;
  const watching = (async () => {
    for await (const _ of b.events(0, { signal: controller.signal })) seen++;
  })();
  await sendMessages(a, 2);
  controller.abort();
  await watching;
  assert.equal(seen, 0);
});

test('events that another runtime on the store commits are seen once and in order', async () => {
  const store = new MemoryStore();
  await using one = await openRuntime({ agents: [looker()], store });
  await using two = await openRuntime({ agents: [looker()], store });
  const localSession = await one.session('x');
  const remoteSession = (await two.find('x')) ?? assert.fail();
  const last = 5 * 7;
  const watching = take(remoteSession.events(), ({ seq }) => seq === last);
  await sendMessages(localSession, 5);
  assert.deepEqual(await watching, await readLog(localSession));
});
