import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { applyWrites, filterWrites, listWrittenKeys, mergeWrites } from './map-writes.ts';
import type { KeyWrites } from './map-writes.ts';

type Kind = 'set' | 'delete' | 'increment' | 'append' | 'none';

/** Writes in which each key has one kind of write. Number keys hold numbers, list keys hold lists. */
const writes = fc
  .record({
    number: fc.tuple(fc.constantFrom<Kind>('set', 'delete', 'increment', 'none'), fc.integer()),
    list: fc.tuple(fc.constantFrom<Kind>('set', 'delete', 'append', 'none'), fc.array(fc.nat())),
  })
  .map(({ number, list }): KeyWrites => {
    const all = { number, list };
    const byKind = (kind: Kind): Record<string, never> =>
      Object.fromEntries(
        Object.entries(all).flatMap(([key, [own, value]]) =>
          own === kind ? [[key, value as never]] : [],
        ),
      );
    return {
      set: byKind('set'),
      delete: Object.keys(byKind('delete')),
      increment: byKind('increment'),
      append: byKind('append'),
    };
  });

test('a merged write has the effect of both writes in order', () => {
  fc.assert(
    fc.property(writes, writes, writes, (before, first, second) => {
      const state = applyWrites({}, before);
      assert.deepEqual(
        applyWrites(state, mergeWrites(first, second)),
        applyWrites(applyWrites(state, first), second),
      );
    }),
  );
});

test('applyWrites counts a missing number as 0 and a missing list as empty', () => {
  const after = applyWrites(
    { kept: 1, gone: 2, text: 'a' },
    { set: { new: 3 }, delete: ['gone'], increment: { text: 4 }, append: { list: [5] } },
  );
  assert.deepEqual(after, { kept: 1, new: 3, text: 4, list: [5] });
});

test('filterWrites keeps the accepted keys of every kind', () => {
  const all: KeyWrites = {
    set: { a: 1, b: 1 },
    delete: ['a', 'c'],
    increment: { b: 1 },
    append: { a: [1], d: [] },
  };
  assert.deepEqual(
    filterWrites(all, (key) => key === 'a'),
    { set: { a: 1 }, delete: ['a'], increment: {}, append: { a: [1] } },
  );
  assert.deepEqual(listWrittenKeys(all), ['a', 'b', 'c', 'd']);
});
