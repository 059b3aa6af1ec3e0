import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JournalRecord } from '../../src/net/journal/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { SimulatedClock } from '../../src/testing/index.ts';
import { listRows } from '../src/traces/list-rows.ts';
import { sumUsage, Trace } from '../src/traces/read-trace.ts';
import type { Invocation, Span } from '../src/traces/read-trace.ts';
import { createScale } from '../src/traces/time-scale.ts';
import { findPrice, toCost } from '../src/usage/prices.ts';
import { travel } from './agents.ts';

const DAY = 86_400_000;

/** The records of a booking: a greeting, then a turn whose approval took a day. It ends after the booking. */
async function bookFlight(): Promise<readonly JournalRecord[]> {
  const store = new MemoryStore();
  const clock = new SimulatedClock(1_800_000_000_000);
  await using runtime = await openRuntime({ agents: [travel], store, clock });
  const session = await runtime.session('s');
  await session.ask('hello');
  await session.ask('Book a flight to Berlin').catch(() => undefined);
  const [call] = await session.pending();
  clock.advance(DAY);
  for await (const event of session.approve(call?.id ?? ''))
    if (event.type === 'tool.result') break;
  const records: JournalRecord[] = [];
  for await (const step of store.steps(session.key, 0)) records.push(...step.records);
  return records;
}

function readTrace(records: readonly JournalRecord[]): Trace {
  const trace = new Trace();
  for (const record of records) trace.add(record);
  return trace;
}

test('a trace has each turn with its model calls, tools and waits, from the journal alone', async () => {
  const trace = readTrace(await bookFlight());
  assert.deepEqual(
    trace.invocations.map(({ text, stopReason }) => [text, stopReason]),
    [
      ['hello', 'end_turn'],
      ['Book a flight to Berlin', undefined],
    ],
  );
  const [greeting, booking] = trace.invocations;
  assert.deepEqual(
    greeting?.spans.map(({ kind, name, outcome }) => [kind, name, outcome]),
    [['model', 'model.call', 'ok']],
  );
  assert.deepEqual(
    booking?.spans.slice(0, 5).map(({ kind, name, outcome }) => [kind, name, outcome]),
    [
      ['model', 'model.call', 'ok'],
      ['tool', 'search_flights', 'ok'],
      ['model', 'model.call', 'ok'],
      ['wait', 'book_flight', 'answered'],
      ['tool', 'book_flight', 'ok'],
    ],
  );
  const spans = booking?.spans ?? [];
  const [, search, , wait] = spans;
  assert.deepEqual(search?.input, { from: 'Munich', to: 'Berlin', day: '2026-12-01' });
  assert.match(JSON.stringify(search?.output), /LH 2042/);
  assert.equal((wait?.to ?? 0) - (wait?.from ?? 0), DAY);
  assert.deepEqual(sumUsage(spans.slice(0, 5)), { inputTokens: 320 + 460, outputTokens: 24 + 35 });
});

test('the same records read one by one, while the session runs, give the same trace', async () => {
  const records = await bookFlight();
  const live = new Trace();
  const open: number[] = [];
  for (const record of records) {
    live.add(record);
    open.push(
      live.invocations.flatMap(({ spans }) => spans).filter(({ to }) => to === undefined).length,
    );
  }
  assert.ok(Math.max(...open) >= 1, 'a span is shown while it runs');
  assert.deepEqual(live.invocations, readTrace(records).invocations);
});

test('attempts that failed, and those that a crash cut off, are marks of their span', async () => {
  const records = await bookFlight();
  const started = records.find((record) => record.kind === 'started');
  assert.ok(started?.kind === 'started');
  const base = { t: started.t, firing: started.seq, at: started.at };
  const trace = readTrace([
    ...records.slice(0, started.seq),
    { ...base, kind: 'retrying', seq: started.seq + 1, dueAt: started.at, reason: 'overloaded' },
    { ...base, kind: 'restarted', seq: started.seq + 2, attempt: 2, cause: 'retry', timeoutAt: 0 },
    { ...base, kind: 'restarted', seq: started.seq + 3, attempt: 3, cause: 'crash', timeoutAt: 0 },
  ]);
  assert.deepEqual(
    trace.invocations[0]?.spans[0]?.attempts.map(({ how, reason }) => [how, reason]),
    [
      ['failed', 'overloaded'],
      ['repeated', undefined],
      ['crashed', undefined],
    ],
  );
});

test('a search finds names, arguments and results, and keeps the turns of what it finds', async () => {
  const { invocations } = readTrace(await bookFlight());
  const find = (text: string): readonly (string | undefined)[] =>
    listRows(invocations, { text, closed: new Set() }).map(({ span }) => span?.name);
  assert.deepEqual(find('lh 2036'), [undefined, 'search_flights', 'model.call']);
  // With its quotes, because a random id may have these characters.
  assert.deepEqual(find('"12A"'), [undefined, 'model.call', 'book_flight', 'book_flight']);
  assert.deepEqual(find('hello!'), [undefined, 'model.call']);
  assert.deepEqual(find('nothing has this'), []);
});

test('a long stretch without work is drawn short, and time never goes back', () => {
  const span = (from: number, to: number): Span => ({
    record: from,
    kind: 'tool',
    name: 't',
    transition: 'tool.run',
    from,
    to,
    endRecord: to,
    outcome: 'ok',
    usage: undefined,
    attempts: [],
    input: undefined,
    output: undefined,
  });
  const invocation: Invocation = {
    id: 'i',
    record: 1,
    from: 0,
    to: 2000 + DAY,
    text: '',
    stopReason: undefined,
    spans: [span(0, 600), span(500, 1000), span(1000 + DAY, 2000 + DAY)],
  };
  const { position, breaks } = createScale(invocation, 0);
  assert.equal(position(0), 0);
  assert.equal(position(2000 + DAY), 1);
  assert.deepEqual(
    breaks.map(({ ms }) => ms),
    [DAY],
  );
  assert.ok(position(1000) > 0.4 && position(1000 + DAY) < 0.6, 'the work has most of the width');
  const times = [0, 1, 599, 600, 999, 1000, 1001, DAY / 2, DAY, 1000 + DAY, 1500 + DAY, 2000 + DAY];
  const positions = times.map(position);
  assert.deepEqual(
    positions,
    positions.toSorted((a, b) => a - b),
  );
});

test('the price of a model is that with the longest matching beginning', () => {
  const prices = [
    { model: 'claude', input: 3, output: 15 },
    { model: 'claude-haiku', input: 1, output: 5 },
    { model: '', input: 9, output: 9 },
  ];
  const price = findPrice('claude-haiku-4-5', prices);
  assert.equal(price?.input, 1);
  assert.equal(findPrice('other', prices), undefined);
  const usage = { inputTokens: 2_000_000, outputTokens: 100_000 };
  assert.equal(price && toCost(price, usage), 2.5);
});
