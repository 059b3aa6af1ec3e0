import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Json } from '../../../core/index.ts';
import type { Blobs } from '../../encoding/blob-references.ts';
import { pack, unpack } from './packed-json.ts';

/** `unit: 'binary'` has these too, but builds a map of a million strings first. */
const codePoint = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code));

test('any JSON value is unpacked unchanged', () => {
  const key = fc.oneof(
    fc.string(),
    fc.constantFrom('$blob', '$$blob', '$$$blob', '__proto__', '&'),
  );
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: codePoint }),
    // Around the length from which a string becomes a blob, with one, two and three bytes per character.
    fc
      .tuple(fc.constantFrom('a', 'é', '€', '\0', '\ud800'), fc.integer({ min: 2700, max: 9000 }))
      .map(([character, length]) => character.repeat(length)),
  );
  const { json } = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 3 },
      text,
      fc.constantFrom(null, true, false, 0, -1.5),
      fc.array(tie('json'), { maxLength: 4 }),
      fc
        .array(fc.tuple(key, tie('json')), { maxLength: 4 })
        .map((members) => Object.fromEntries(members)),
    ),
  }));
  fc.assert(
    fc.property(json, (value) => {
      const blobs: Blobs = new Map();
      const back = unpack(pack(value, blobs), (hash) => blobs.get(hash) ?? assert.fail(hash));
      assert.deepEqual(back, value);
    }),
    { numRuns: 400 },
  );
});

test('a repeated long string is stored once, and not in the row', () => {
  const blobs: Blobs = new Map();
  const text = 'long '.repeat(2000);
  const packed = pack({ a: text, b: [text, { c: text }] }, blobs);
  assert.equal(blobs.size, 1);
  assert.ok(packed.length < 400);
});

test('a value with much repetition takes little space in the row', () => {
  const packed = pack(
    Array.from({ length: 200 }, () => ({ name: 'the same text again' })),
    new Map(),
  );
  assert.ok(packed.length < 500);
});
