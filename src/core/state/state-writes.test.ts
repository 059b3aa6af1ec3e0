import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { Json } from '../json/json.ts';
import {
  applyWrites,
  isEmptyWrites,
  listConflicts,
  listOverwrittenKeys,
  listWrittenKeys,
  mergeBasedWrites,
  mergeWrites,
  restrictWrites,
  toStateDelta,
  writtenValues,
  type BasedWrites,
  type StateWrites,
} from './state-writes.ts';
import { getStateScope, isSharedKey, isTempKey } from './state-key.ts';

type State = Readonly<Record<string, Json>>;

const anyKey = fc.constantFrom('a', 'b', 'user:c', 'app:d', 'temp:e', '__proto__');
const anyNumber = fc.integer({ min: -9, max: 9 });
const anyList = fc.array(anyNumber, { maxLength: 3 });
const anyValue: fc.Arbitrary<Json> = fc.oneof(
  anyNumber,
  anyList,
  fc.constantFrom('text', null, true),
);
const anyState: fc.Arbitrary<State> = fc.dictionary(anyKey, anyValue);
/** Any writes: a key may be in several members, and a write may not fit the value. */
const anyWrites: fc.Arbitrary<StateWrites> = fc.record(
  {
    set: anyState,
    delete: fc.array(anyKey, { maxLength: 2 }),
    increment: fc.dictionary(anyKey, anyNumber),
    append: fc.dictionary(anyKey, anyList),
  },
  { requiredKeys: [] },
);

/** Writes that fit: key `n*` holds numbers, key `l*` holds lists. */
const fittingKeys = ['n1', 'n2', 'user:n', 'l1', 'l2'];
const fittingState: fc.Arbitrary<State> = fc
  .record({ n1: anyNumber, n2: anyNumber, 'user:n': anyNumber, l1: anyList, l2: anyList })
  .chain((full) => fc.subarray(fittingKeys).map((keys) => pick(full, keys)));
const fittingWrites: fc.Arbitrary<StateWrites> = fc
  .tuple(
    fittingState,
    fc.subarray(fittingKeys),
    fc.dictionary(fc.constantFrom('n1', 'n2', 'user:n'), anyNumber),
    fc.dictionary(fc.constantFrom('l1', 'l2'), anyList),
  )
  .map(([set, removed, increment, append]) =>
    mergeWrites({ set, delete: removed }, { increment, append }),
  );

/** Which of the keys a writer read before it wrote. */
const reads = fc.subarray(fittingKeys);

function pick(entries: State, keys: readonly string[]): State {
  return Object.fromEntries(Object.entries(entries).filter(([key]) => keys.includes(key)));
}

/** Writes of a writer that read some of the keys that it overwrites, in this state. */
function createBasedWrites(
  state: State,
  writes: StateWrites,
  read: readonly string[],
): { readonly writes: StateWrites; readonly seen: State } {
  const keys = listOverwrittenKeys(writes).filter((key) => read.includes(key));
  return { writes, seen: Object.fromEntries(keys.map((key) => [key, state[key] ?? null])) };
}

function readConflicts({ seen = {} }: BasedWrites, state: State): readonly string[] {
  return listConflicts(seen, (key) => state[key]);
}

// The model: one kind of write after the other, on a plain map.
function applyToModel(before: State, writes: StateWrites): State {
  const after = new Map(Object.entries(before));
  for (const [key, value] of Object.entries(writes.set ?? {})) after.set(key, value);
  for (const key of writes.delete ?? []) after.delete(key);
  for (const [key, by] of Object.entries(writes.increment ?? {})) {
    const value = after.get(key);
    after.set(key, (typeof value === 'number' ? value : 0) + by);
  }
  for (const [key, items] of Object.entries(writes.append ?? {})) {
    const value = after.get(key);
    after.set(key, [...(Array.isArray(value) ? value : []), ...items]);
  }
  return Object.fromEntries(after);
}

describe('state writes', () => {
  test('are applied in the order set, delete, increment, append', () => {
    fc.assert(
      fc.property(anyState, anyWrites, (state, writes) => {
        assert.deepEqual(applyWrites(state, writes), applyToModel(state, writes));
      }),
    );
  });

  test('a merged write has the effect of both writes in order', () => {
    fc.assert(
      fc.property(anyState, anyWrites, anyWrites, (state, first, second) => {
        assert.deepEqual(
          applyWrites(state, mergeWrites(first, second)),
          applyWrites(applyWrites(state, first), second),
        );
      }),
    );
  });

  test('merge is associative, and no writes are its neutral element', () => {
    fc.assert(
      fc.property(anyWrites, anyWrites, anyWrites, (first, second, third) => {
        const all = mergeWrites(first, second, third);
        assert.deepEqual(mergeWrites(mergeWrites(first, second), third), all);
        assert.deepEqual(mergeWrites(first, mergeWrites(second, third)), all);
        assert.deepEqual(mergeWrites({}, all), all);
        assert.deepEqual(mergeWrites(all, {}), all);
        assert.deepEqual(mergeWrites(all), all);
      }),
    );
  });

  test('a merged write has each key once', () => {
    fc.assert(
      fc.property(anyWrites, anyWrites, (first, second) => {
        const merged = mergeWrites(first, second);
        const keys = [
          ...[merged.set, merged.increment, merged.append].flatMap((part) => Object.keys(part)),
          ...merged.delete,
        ];
        assert.equal(new Set(keys).size, keys.length);
        assert.deepEqual(
          new Set(keys),
          new Set([...listWrittenKeys(first), ...listWrittenKeys(second)]),
        );
        assert.equal(isEmptyWrites(merged), keys.length === 0);
      }),
    );
  });

  test('restrict commutes with merge and with apply, and its parts are the whole', () => {
    const isOwnKey = (key: string): boolean => getStateScope(key) === 'session';
    fc.assert(
      fc.property(anyState, anyWrites, anyWrites, (state, first, second) => {
        for (const isKept of [isSharedKey, isTempKey, isOwnKey]) {
          const restricted = restrictWrites(mergeWrites(first, second), isKept);
          assert.deepEqual(
            restricted,
            mergeWrites(restrictWrites(first, isKept), restrictWrites(second, isKept)),
          );
          const keep = (entries: State): State =>
            Object.fromEntries(Object.entries(entries).filter(([key]) => isKept(key)));
          assert.deepEqual(
            applyWrites(keep(state), restrictWrites(first, isKept)),
            keep(applyWrites(state, first)),
          );
        }
        const parts = [isOwnKey, isSharedKey, isTempKey].map((isKept) =>
          restrictWrites(first, isKept),
        );
        assert.deepEqual(applyWrites(state, mergeWrites(...parts)), applyWrites(state, first));
      }),
    );
  });

  test('the delta names exactly the written keys, with their values after the writes', () => {
    fc.assert(
      fc.property(anyState, anyWrites, (state, writes) => {
        const { delta, removed } = toStateDelta(writes, state);
        const after = applyWrites(state, writes);
        for (const [key, value] of Object.entries(delta))
          assert.deepEqual([Object.hasOwn(after, key), after[key]], [true, value]);
        for (const key of removed) assert.equal(Object.hasOwn(after, key), false);
        assert.deepEqual(
          new Set([...Object.keys(delta), ...removed]),
          new Set(listWrittenKeys(writes)),
        );
      }),
    );
  });

  test('a value is read only where a write adds to it', () => {
    const asked: string[] = [];
    const values = writtenValues(
      { set: { a: 1 }, delete: ['b', 'd'], increment: { a: 2, c: 3, d: 1 }, append: { e: [1] } },
      (key) => {
        asked.push(key);
        return 10;
      },
    );
    assert.deepEqual(asked, ['c', 'e']);
    assert.deepEqual(
      values,
      new Map<string, Json | undefined>([
        ['a', 3],
        ['b', undefined],
        ['d', 1],
        ['c', 13],
        ['e', [1]],
      ]),
    );
  });

  test('a missing number counts as 0 and a missing list as empty', () => {
    const after = applyWrites(
      { kept: 1, gone: 2, text: 'a' },
      { set: { new: 3 }, delete: ['gone'], increment: { text: 4 }, append: { list: [5] } },
    );
    assert.deepEqual(after, { kept: 1, new: 3, text: 4, list: [5] });
  });

  test('restrict keeps the accepted keys of every kind', () => {
    const all: StateWrites = {
      set: { a: 1, b: 1 },
      delete: ['c'],
      increment: { d: 1 },
      append: { e: [1], f: [] },
    };
    assert.deepEqual(
      restrictWrites(all, (key) => ['a', 'c', 'e'].includes(key)),
      { set: { a: 1 }, delete: ['c'], increment: {}, append: { e: [1] } },
    );
    assert.deepEqual(listWrittenKeys(all), ['a', 'b', 'c', 'd', 'e', 'f']);
    assert.deepEqual(listOverwrittenKeys(all), ['a', 'b', 'c']);
  });

  test('a write after a write of another kind becomes a value that needs no value before', () => {
    const merge = (first: StateWrites, second: StateWrites): StateWrites => {
      const { set, delete: removed, increment, append } = mergeWrites(first, second);
      assert.deepEqual([increment, append], [{}, {}]);
      return removed.length > 0 ? { delete: removed } : { set };
    };
    assert.deepEqual(merge({ set: { k: 1 } }, { increment: { k: 2 } }), { set: { k: 3 } });
    assert.deepEqual(merge({ delete: ['k'] }, { increment: { k: 2 } }), { set: { k: 2 } });
    assert.deepEqual(merge({ set: { k: [1] } }, { append: { k: [2] } }), { set: { k: [1, 2] } });
    assert.deepEqual(merge({ append: { k: [1] } }, { increment: { k: 2 } }), { set: { k: 2 } });
    assert.deepEqual(merge({ increment: { k: 1 } }, { append: { k: [2] } }), { set: { k: [2] } });
    assert.deepEqual(merge({ append: { k: [1] } }, { delete: ['k'] }), { delete: ['k'] });
  });
});

describe('conflicts of state writes', () => {
  test('a writer conflicts exactly in the keys whose value differs from the one it read', () => {
    assert.deepEqual(
      listConflicts({ same: { a: 1, b: 2 }, other: 1, gone: 1, missing: null, new: null }, (key) =>
        key === 'same' ? { b: 2, a: 1 } : { other: 2, new: 3 }[key],
      ),
      ['other', 'gone', 'new'],
    );
  });

  test('nobody conflicts with the state that it read', () => {
    fc.assert(
      fc.property(fittingState, fittingWrites, reads, (state, writes, read) => {
        assert.deepEqual(readConflicts(createBasedWrites(state, writes, read), state), []);
      }),
    );
  });

  test('of two writers that read and change a key, the later one conflicts in it, whichever it is', () => {
    fc.assert(
      fc.property(fittingState, fittingWrites, fittingWrites, (state, one, two) => {
        const [first, second] = [one, two].map((writes) =>
          createBasedWrites(state, writes, fittingKeys),
        );
        assert.ok(first !== undefined && second !== undefined);
        const isChanged = (writes: StateWrites, key: string): boolean =>
          listConflicts({ [key]: state[key] ?? null }, (name) => applyWrites(state, writes)[name])
            .length > 0;
        const both = Object.keys(first.seen).filter(
          (key) => key in second.seen && isChanged(one, key) && isChanged(two, key),
        );
        const afterOne = readConflicts(second, applyWrites(state, one));
        const afterTwo = readConflicts(first, applyWrites(state, two));
        for (const key of both)
          assert.deepEqual([afterOne.includes(key), afterTwo.includes(key)], [true, true]);
      }),
    );
  });

  test('increments and appends conflict with nothing, and increments commute', () => {
    fc.assert(
      fc.property(fittingState, fittingWrites, fittingWrites, (state, one, two) => {
        const added = createBasedWrites(
          state,
          { increment: one.increment ?? {}, append: one.append ?? {} },
          fittingKeys,
        );
        assert.deepEqual(readConflicts(added, applyWrites(state, two)), []);
        const [first, second] = [one, two].map(({ increment = {} }) => ({ increment }));
        assert.ok(first !== undefined && second !== undefined);
        assert.deepEqual(
          applyWrites(applyWrites(state, first), second),
          applyWrites(applyWrites(state, second), first),
        );
      }),
    );
  });

  test('writers of different keys never conflict, in either order, and their writes commute', () => {
    fc.assert(
      fc.property(fittingState, fittingWrites, fittingWrites, (state, one, two) => {
        const isFirst = (key: string): boolean => ['n1', 'l1', 'user:n'].includes(key);
        const first = createBasedWrites(state, restrictWrites(one, isFirst), fittingKeys);
        const second = createBasedWrites(
          state,
          restrictWrites(two, (key) => !isFirst(key)),
          fittingKeys,
        );
        assert.deepEqual(readConflicts(second, applyWrites(state, first.writes)), []);
        assert.deepEqual(readConflicts(first, applyWrites(state, second.writes)), []);
        assert.deepEqual(
          applyWrites(state, mergeWrites(first.writes, second.writes)),
          applyWrites(state, mergeWrites(second.writes, first.writes)),
        );
      }),
    );
  });

  test('merged writes conflict when the first would, or the second would after it', () => {
    const arguments_ = [
      fittingState,
      fittingState,
      fittingWrites,
      fittingWrites,
      reads,
      reads,
    ] as const;
    fc.assert(
      fc.property(...arguments_, (state, current, one, two, readOne, readTwo) => {
        const first = createBasedWrites(state, one, readOne);
        const second = createBasedWrites(applyWrites(state, one), two, readTwo);
        const merged = mergeBasedWrites(first, second, state);
        const expected = new Set([
          ...readConflicts(first, current),
          // A key that the first only added to: what the second read has changed if the value before has.
          ...Object.keys(second.seen).filter(
            (key) =>
              !listOverwrittenKeys(one).includes(key) &&
              listConflicts({ [key]: state[key] ?? null }, (name) => current[name]).length > 0,
          ),
        ]);
        assert.deepEqual(new Set(readConflicts(merged, current)), expected);
      }),
    );
  });

  test('merging based writes is associative', () => {
    const arguments_ = [fittingState, fittingWrites, fittingWrites, fittingWrites] as const;
    fc.assert(
      fc.property(...arguments_, reads, reads, reads, (state, one, two, three, r1, r2, r3) => {
        const afterOne = applyWrites(state, one);
        const afterTwo = applyWrites(afterOne, two);
        const first = createBasedWrites(state, one, r1);
        const second = createBasedWrites(afterOne, two, r2);
        const third = createBasedWrites(afterTwo, three, r3);
        assert.deepEqual(
          mergeBasedWrites(mergeBasedWrites(first, second, state), third, state),
          mergeBasedWrites(first, mergeBasedWrites(second, third, afterOne), state),
        );
      }),
    );
  });
});
