import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { decodeJson } from './decode-json.ts';
import { encodeJson } from './encode-json.ts';
import { frozenJson } from './frozen-json.ts';
import { deepFreeze } from './json.ts';
import { NotSerializableError } from '../errors/not-serializable-error.ts';

/** The reference implementation, with which frozenJson must always agree. */
function viaText(value: unknown): unknown {
  return deepFreeze(decodeJson(encodeJson(value, 'it'), 'it'));
}

function getOutcome(make: () => unknown): unknown {
  try {
    const value = make();
    return { value, text: JSON.stringify(value) };
  } catch (error) {
    assert.ok(error instanceof NotSerializableError, String(error));
    return error.message;
  }
}

function isDeeplyFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen);
}

const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
  withBoxedValues: true,
  withUnicodeString: true,
});

test('frozenJson accepts, rejects and copies like writing and reading JSON', () => {
  fc.assert(
    fc.property(anything, (value) => {
      const outcome = getOutcome(() => frozenJson(value, 'it'));
      assert.deepStrictEqual(
        outcome,
        getOutcome(() => viaText(value)),
      );
    }),
    { numRuns: 2000 },
  );
});

for (const [description, make] of [
  ['a negative zero', () => [-0, { a: -0 }]],
  ['members that are undefined', () => ({ a: undefined, b: 1 })],
  ['a hole in a list', () => Object.assign(Array<number>(3), { 0: 1, 2: 2 })],
  ['undefined itself', () => undefined],
  ['a member named __proto__', () => JSON.parse('{"a":{"__proto__":{"b":1}}}')],
  ['a date', () => ({ at: new Date(0) })],
  ['a list with a toJSON', () => Object.assign([1], { toJSON: () => 'list' })],
  ['an object of another realm', () => runInNewContext('({ a: [1, { b: null }] })')],
  [
    'a getter',
    () =>
      Object.freeze({
        get a() {
          return 1;
        },
      }),
  ],
  ['half of a surrogate pair', () => ({ a: '\ud800', '\ud800': 1 })],
  ['keys that look like numbers', () => ({ b: 1, 10: 2, 9: 3 })],
  ['keys that are inherited', () => Object.create({ a: 1 })],
  [
    'an instance of a class',
    () =>
      new (class Point {
        x = 1;
      })(),
  ],
  ['a tree 499 levels deep', () => nested(499)],
  ['a tree 501 levels deep', () => nested(501)],
  [
    'a cycle',
    () => {
      const cycle: unknown[] = [];
      cycle.push({ cycle });
      return cycle;
    },
  ],
] satisfies readonly (readonly [string, () => unknown])[]) {
  test(`frozenJson agrees with JSON for ${description}`, () => {
    const value: unknown = make();
    assert.deepStrictEqual(
      getOutcome(() => frozenJson(value, 'it')),
      getOutcome(() => viaText(value)),
    );
  });
}

test('the copy is deeply frozen and shares nothing with the original', () => {
  const original = { list: [{ text: 'a' }], more: { count: 1 } };
  const copy = frozenJson(original, 'it');
  assert.ok(isDeeplyFrozen(copy));
  original.list.push({ text: 'b' });
  original.more.count = 2;
  assert.deepStrictEqual(copy, { list: [{ text: 'a' }], more: { count: 1 } });
  assert.ok(!Object.isFrozen(original.list));
});

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}
