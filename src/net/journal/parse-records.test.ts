import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeMarking, encodeMarking, parseRecords, replayRecords } from './index.ts';
import type { JournalRecord } from './index.ts';

const NAMES = ['constructor', 'prototype', '__proto__', 'plain'];

test('a name that every object has is kept, as a key of state and as the name of a place', () => {
  const entries = <T>(value: T): Record<string, T> =>
    Object.fromEntries(NAMES.map((name) => [name, value]));
  const records: readonly JournalRecord[] = [
    {
      seq: 1,
      at: 1,
      kind: 'injected',
      give: NAMES.map((place) => [place, 1, { due: entries(5) }] as const),
      net: { hash: 'h', versions: entries(1) },
    },
    {
      seq: 2,
      at: 1,
      kind: 'fired',
      t: 't',
      lists: NAMES.map((place) => ({ place, append: [place] })),
      maps: [
        { place: 'state', set: entries('value') },
        { place: 'counts', increment: entries(2), append: entries([1]) },
        ...NAMES.map((place) => ({ place, set: { key: 1 } })),
      ],
    },
    { seq: 3, at: 1, kind: 'loaded', place: 'user', entries: entries(1), versions: entries(4) },
  ];
  const text = JSON.stringify(records);
  const parsed = parseRecords(JSON.parse(text));
  assert.deepEqual(parsed, records);
  const marking = encodeMarking(replayRecords(parsed));
  assert.deepEqual(marking, encodeMarking(replayRecords(records)));
  const base = { kind: 'trimmed', seq: 3, at: 1, marking };
  const stored: unknown = JSON.parse(JSON.stringify([base]));
  assert.deepEqual(encodeMarking(replayRecords(parseRecords(stored))), marking);
  assert.deepEqual(encodeMarking(decodeMarking(JSON.parse(JSON.stringify(marking)))), marking);
});

test('a wrong value in an object of any names is refused by its path', () => {
  const fired = { seq: 1, at: 1, kind: 'fired', t: 't' };
  for (const [change, path] of [
    [{ place: 'p', increment: { a: 1, constructor: 'x' } }, 'increment.constructor'],
    [{ place: 'p', append: { a: 1 } }, 'append.a'],
    [{ place: 'p', set: [1] }, 'set'],
  ] as const)
    assert.throws(() => parseRecords([{ ...fired, maps: [change] }]), {
      code: 'invalid_input',
      field: `records[0].maps[0].${path}`,
    });
});
