import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JournalRecord } from '../../net/index.ts';
import { JournalReplay } from './journal-replay.ts';
import type { ReplayEntry } from './replay-entry.ts';

function replayRecords(records: readonly JournalRecord[]): {
  readonly entries: readonly ReplayEntry[];
  readonly replay: JournalReplay;
} {
  const replay = new JournalReplay();
  return { entries: records.flatMap((record) => replay.apply(record)), replay };
}

const begun: readonly JournalRecord[] = [
  {
    kind: 'injected',
    seq: 1,
    at: 100,
    key: 'k',
    give: [['call.in', { name: 'fetch', args: { n: 1 } }]],
  },
  { kind: 'started', seq: 2, at: 110, t: 'call.run', take: [['call.in', '1.0']], timeoutAt: 9000 },
];

test('an effect is one entry at its end, with its duration and its subject', () => {
  const ended: JournalRecord = {
    kind: 'ended',
    seq: 3,
    at: 150,
    t: 'call.run',
    firing: 2,
    outcome: 'ok',
    give: [['call.out', 7, { times: 3 }]],
  };
  assert.deepEqual(replayRecords([...begun, ended]).entries.slice(1), [
    {
      type: 'firing',
      seq: 3,
      at: 150,
      transition: 'call.run',
      outcome: 'ok',
      started: 2,
      durationMs: 40,
      attempts: 1,
      about: 'fetch {"n":1}',
      take: { 'call.in': 1 },
      give: { 'call.out': 3 },
    },
  ]);
});

test('an effect still in flight at the end of the journal is an entry, with its attempts', () => {
  const { entries, replay } = replayRecords([
    ...begun,
    { kind: 'owned', seq: 3, at: 200, owner: 'second', epoch: 2 },
    {
      kind: 'restarted',
      seq: 4,
      at: 200,
      t: 'call.run',
      firing: 2,
      attempt: 2,
      cause: 'crash',
      timeoutAt: 9000,
    },
  ]);
  assert.deepEqual(entries.slice(1), [
    { type: 'owner', seq: 3, at: 200, owner: 'second', epoch: 2 },
    {
      type: 'attempt',
      seq: 4,
      at: 200,
      transition: 'call.run',
      started: 2,
      attempt: 2,
      cause: 'crash',
    },
  ]);
  assert.partialDeepStrictEqual(replay.inFlight(), [
    { transition: 'call.run', outcome: 'running', attempts: 2, durationMs: 90 },
  ]);
  assert.deepEqual(replay.end(), { records: 4, firings: 0, tokens: {} });
});

test('an effect that another firing takes is an aborted entry before that firing', () => {
  const { entries, replay } = replayRecords([
    ...begun,
    {
      kind: 'fired',
      seq: 3,
      at: 300,
      t: 'call.stop',
      aborted: [2],
      give: [['call.stopped', null]],
    },
  ]);
  assert.deepEqual(
    entries
      .slice(1)
      .map((entry) => entry.type === 'firing' && [entry.transition, entry.outcome, entry.give]),
    [
      ['call.run', 'aborted', {}],
      ['call.stop', 'fired', { 'call.stopped': 1 }],
    ],
  );
  assert.deepEqual(replay.inFlight(), []);
  assert.deepEqual(replay.end(), { records: 3, firings: 2, tokens: { 'call.stopped': 1 } });
});

test('a fault is an entry with its reason, for pure transitions and effects', () => {
  const error = { code: 'bad_output', message: 'it gave a word for a number' };
  const pure = replayRecords([
    ...begun.slice(0, 1),
    { kind: 'faulted', seq: 2, at: 120, t: 'call.judge', take: [['call.in', '1.0']], error },
  ]);
  assert.partialDeepStrictEqual(pure.entries.at(-1), {
    transition: 'call.judge',
    outcome: 'faulted',
    reason: error.message,
    about: 'fetch {"n":1}',
  });
  const effect = replayRecords([
    ...begun,
    { kind: 'faulted', seq: 3, at: 120, t: 'call.run', firing: 2, error },
  ]);
  assert.partialDeepStrictEqual(effect.entries.at(-1), {
    transition: 'call.run',
    outcome: 'faulted',
    started: 2,
    durationMs: 10,
  });
});

test('retries, late results, upgrades and shared state have their own entries', () => {
  const { entries } = replayRecords([
    ...begun,
    { kind: 'retrying', seq: 3, at: 120, t: 'call.run', firing: 2, dueAt: 1120, reason: 'busy' },
    { kind: 'discarded', seq: 4, at: 130, t: 'call.other', firing: 1 },
    { kind: 'upgraded', seq: 5, at: 140, from: 'aaa', to: { hash: 'bbb', versions: {} } },
    {
      kind: 'loaded',
      seq: 6,
      at: 150,
      place: 'state',
      entries: { 'user:name': 'Ann' },
      versions: { 'user:name': 1 },
    },
  ]);
  assert.deepEqual(entries.slice(1), [
    {
      type: 'retry',
      seq: 3,
      at: 120,
      transition: 'call.run',
      started: 2,
      dueAt: 1120,
      reason: 'busy',
    },
    { type: 'late', seq: 4, at: 130, transition: 'call.other', started: 1 },
    { type: 'upgrade', seq: 5, at: 140, from: 'aaa', to: 'bbb' },
    { type: 'shared', seq: 6, at: 150, keys: ['user:name'] },
  ]);
});

test('a journal with a missing record is rejected', () => {
  const replay = new JournalReplay();
  replay.apply({ kind: 'injected', seq: 1, at: 100, give: [] });
  assert.throws(
    () => replay.apply({ kind: 'owned', seq: 3, at: 100, owner: 'x', epoch: 1 }),
    /record 3 does not follow record 1/,
  );
  assert.throws(
    () => replay.apply({ kind: 'fired', seq: 2, at: 100, t: 'a.b', take: [['a.c', '1.0']] }),
    /which is not there/,
  );
});
