import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { canonicalJson } from './canonical-json.ts';
import { decodeJson, InvalidJsonError } from './decode-json.ts';
import { encodeJson, MAX_JSON_DEPTH } from './encode-json.ts';
import { deepFreeze } from './json.ts';
import { NotSerializableError } from '../errors/not-serializable-error.ts';

const jsonArbitrary = fc.jsonValue({ noUnicodeString: false });

/** Normalizes what JSON itself loses: the sign of zero, and the missing prototype of an object. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

test('every JSON value survives a round trip', () => {
  fc.assert(
    fc.property(jsonArbitrary, (value) => {
      assert.deepEqual(decodeJson(encodeJson(value, 'value'), 'value'), asJson(value));
    }),
  );
});

test('encoding the decoded text gives the same text for every accepted value', () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withSparseArray: true,
    withNullPrototype: true,
    withBoxedValues: true,
  });
  let accepted = 0;
  fc.assert(
    fc.property(anything, (value) => {
      const text = encodedOrRefused(value);
      if (text === undefined) return;
      accepted++;
      assert.equal(encodeJson(decodeJson(text, 'value'), 'value'), text);
    }),
  );
  assert.ok(accepted > 0);
});

function encodedOrRefused(value: unknown): string | undefined {
  try {
    return encodeJson(value, 'value');
  } catch (error) {
    assert.ok(error instanceof NotSerializableError);
    return undefined;
  }
}

class Money {
  readonly cents = 5;
}

const cyclic: { name: string; self?: unknown } = { name: 'a' };
cyclic.self = [cyclic];

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = [value];
  return value;
}

const refused: readonly (readonly [name: string, value: unknown, path: string, problem: string])[] =
  [
    ['undefined', undefined, 'result', 'undefined'],
    ['undefined in an array', { rows: [1, undefined] }, 'result.rows[1]', 'undefined'],
    // oxlint-disable-next-line no-sparse-arrays -- a hole is what is tested
    ['a hole', [1, , 3], 'result[1]', 'undefined'],
    ['a function', { rows: [0, 1, 2, { when: () => 1 }] }, 'result.rows[3].when', 'a function'],
    ['a symbol', { kind: Symbol('x') }, 'result.kind', 'a symbol'],
    ['a bigint', { 'total cost': 5n }, 'result["total cost"]', 'a bigint'],
    ['NaN', [Number.NaN], 'result[0]', 'NaN'],
    ['infinity', -Infinity, 'result', '-Infinity'],
    ['a cycle', cyclic, 'result.self[0]', 'a reference to an object around it'],
    ['a map', { seen: new Map([[1, 2]]) }, 'result.seen', 'an instance of Map'],
    ['a set', new Set([1]), 'result', 'an instance of Set'],
    ['an error', { reason: new TypeError('no') }, 'result.reason', 'an instance of TypeError'],
    ['an instance of a class', [new Money()], 'result[0]', 'an instance of Money'],
    ['bytes', { data: new Uint8Array(2) }, 'result.data', 'bytes'],
    ['a buffer, although it has a toJSON', Buffer.from('a'), 'result', 'bytes'],
    ['an invalid date', { when: new Date(Number.NaN) }, 'result.when', 'an invalid date'],
    ['what a toJSON gives', { when: { toJSON: () => ({ at: 1n }) } }, 'result.when.at', 'a bigint'],
    ['a toJSON of nothing', [{ toJSON: () => undefined }], 'result[0]', 'undefined'],
  ];

for (const [name, value, path, problem] of refused) {
  test(`${name} is rejected, and the error names its path`, () => {
    assert.throws(
      () => encodeJson(value, 'result'),
      (error) => {
        assert.ok(error instanceof NotSerializableError);
        assert.deepEqual(
          [error.code, error.path, error.problem],
          ['not_serialisable', path, problem],
        );
        assert.ok(error.message.startsWith(`${path} is ${problem}`), error.message);
        return true;
      },
    );
  });
}

test('a tree at the depth limit is encoded, and one level more is rejected', () => {
  assert.equal(encodeJson(nested(MAX_JSON_DEPTH), 'v').length, 2 * MAX_JSON_DEPTH + 1);
  assert.throws(() => encodeJson(nested(MAX_JSON_DEPTH + 1), 'v'), /nested deeper than 500 levels/);
  assert.throws(() => encodeJson(nested(100_000), 'v'), NotSerializableError);
});

test('one object in two places is not a cycle', () => {
  const shared = { a: 1 };
  assert.equal(encodeJson([shared, shared], 'v'), '[{"a":1},{"a":1}]');
});

test('an undefined member is omitted, and a date becomes its ISO string', () => {
  const value = { a: undefined, when: new Date(0) };
  assert.equal(encodeJson(value, 'v'), '{"when":"1970-01-01T00:00:00.000Z"}');
});

test('a member named __proto__ is data', () => {
  const decoded = decodeJson('{"__proto__":{"admin":true}}', 'v');
  assert.equal(encodeJson(decoded, 'v'), '{"__proto__":{"admin":true}}');
  assert.equal(canonicalJson(decoded), '{"__proto__":{"admin":true}}');
});

test('canonical JSON does not depend on the order of members', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), jsonArbitrary), (value) => {
      const reversed = Object.fromEntries(Object.entries(value).toReversed());
      assert.equal(canonicalJson(reversed), canonicalJson(value));
      assert.deepEqual(JSON.parse(canonicalJson(value)), asJson(value));
    }),
  );
  assert.equal(
    canonicalJson({ b: [2, { d: 1, c: null }], a: 'x' }),
    '{"a":"x","b":[2,{"c":null,"d":1}]}',
  );
});

test('text that is not JSON is rejected with its name', () => {
  assert.throws(
    () => decodeJson('{', 'step 12'),
    (error) => error instanceof InvalidJsonError && error.message.startsWith('step 12 '),
  );
});

test('a frozen tree cannot be changed at any depth, even when its top was frozen before', () => {
  const inner: { a: number } = { a: 1 };
  const value = deepFreeze(Object.freeze({ list: [inner] }));
  assert.ok(Object.isFrozen(value.list));
  assert.throws(() => {
    inner.a = 2;
  }, TypeError);
});
