import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { emptyMarking, encodeMarking, replayRecords } from '../../src/net/journal/index.ts';
import type { JournalRecord } from '../../src/net/journal/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime, trimJournal } from '../../src/runtime/index.ts';
import { hydrate } from '../../src/runtime/journal/hydrate.ts';
import type { CommittedStep } from '../../src/store/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { travel } from './agents.ts';
import { JournalHistory } from '../src/session/journal-history.ts';

test('the marking after any record is that of the runtime, in whatever order the timeline jumps', async () => {
  const store = new MemoryStore();
  const records: JournalRecord[] = [];
  const history = new JournalHistory();
  await using runtime = await openRuntime({ agents: [travel], store });
  const session = await runtime.session('s');
  for (let turn = 0; turn < 60; turn++) await session.ask('hello');
  for await (const step of store.steps(session.key, 0))
    for (const record of step.records) {
      records.push(record);
      history.append(record, step.step);
    }
  assert.ok(history.last > 300, 'the records span several kept markings');
  assert.deepEqual(
    encodeMarking(history.markingAt(history.last)),
    encodeMarking(await hydrate(store, session.key)),
  );
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: history.last }), { minLength: 1, maxLength: 12 }),
      (jumps) => {
        for (const to of jumps) {
          const expected = encodeMarking(replayRecords(records.slice(0, to)));
          assert.deepEqual(encodeMarking(history.markingAt(to)), expected, `record ${to}`);
          assert.deepEqual(encodeMarking(history.copyAt(to)), expected, `a copy at record ${to}`);
        }
      },
    ),
    { numRuns: 25 },
  );
});

test('a history of a trimmed journal begins with its base', async () => {
  const store = new MemoryStore();
  const clock = new SimulatedClock(1_700_000_000_000);
  await using runtime = await openRuntime({ agents: [travel], store, clock });
  const session = await runtime.session('s');
  for (let turn = 0; turn < 60; turn++) {
    clock.advance(1000);
    await session.ask('hello');
  }
  const steps: CommittedStep[] = [];
  for await (const step of store.steps(session.key, 0)) steps.push(step);
  const whole = new JournalHistory();
  for (const { step, records } of steps) for (const record of records) whole.append(record, step);
  await trimJournal(store, session.key, { upTo: clock.now() - 20_000 });
  const history = new JournalHistory();
  for await (const { step, records } of store.steps(session.key, 0))
    for (const record of records) history.append(record, step);
  const first = Array.from({ length: whole.last }, (_, index) => index + 1).find(
    (number) => history.record(number) !== undefined,
  );
  assert.ok(first !== undefined && first > 1 && history.record(first)?.kind === 'trimmed');
  assert.equal(history.last, whole.last);
  for (let number = first; number <= whole.last; number += 7) {
    assert.deepEqual(encodeMarking(history.copyAt(number)), encodeMarking(whole.copyAt(number)));
    assert.equal(history.step(number), whole.step(number));
    assert.equal(history.endOfStep(number), whole.endOfStep(number));
  }
  assert.deepEqual(history.slice(first + 1, first + 9), whole.slice(first + 1, first + 9));
  assert.deepEqual(encodeMarking(history.markingAt(first - 1)), encodeMarking(emptyMarking()));
  assert.equal(history.record(1), undefined);

  // A page that was read before the trim.
  const late = new JournalHistory();
  for (const { step, records } of steps.slice(0, 9))
    for (const record of records) late.append(record, step);
  late.markingAt(3);
  for await (const { step, records } of store.steps(session.key, 9))
    for (const record of records) late.append(record, step);
  assert.equal(late.record(1), undefined);
  assert.equal(late.record(first)?.kind, 'trimmed');
  assert.deepEqual(late.slice(1), history.slice(1));
  for (const number of [first - 1, first, first + 5, whole.last]) {
    assert.deepEqual(
      encodeMarking(late.markingAt(number)),
      encodeMarking(history.markingAt(number)),
    );
    assert.equal(late.step(number), history.step(number));
  }
});

test('the value of a token is found by its id', async () => {
  const store = new MemoryStore();
  await using runtime = await openRuntime({ agents: [travel], store });
  const session = await runtime.session('s');
  await session.ask('Book a flight to Berlin').catch(() => undefined);
  const history = new JournalHistory();
  let compared = 0;
  for await (const step of store.steps(session.key, 0))
    for (const record of step.records) {
      history.append(record, step.step);
      for (const tokens of history.markingAt(history.last).tokens.values())
        for (const { id, value } of tokens) {
          assert.deepEqual(history.tokenValue(id), value, id);
          compared++;
        }
    }
  assert.ok(compared > 100);
  assert.equal(history.tokenValue('999.0'), undefined);
});
