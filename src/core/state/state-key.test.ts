import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { NotSerializableError } from '../errors/not-serializable-error.ts';
import { validateStateDelta } from './state-delta.ts';
import {
  InvalidStateKeyError,
  MAX_STATE_KEY_LENGTH,
  normalizeStateKey,
  parseStateKey,
  formatStateKey,
  getStateScope,
  validateStateKey,
} from './state-key.ts';

/** Keys with the rule that rejects them. If a key breaks several rules, the first one applies. */
const refused: readonly (readonly [name: string, key: string, message: RegExp])[] = [
  ['an empty key', '', /must not be empty/],
  ['257 bytes', 'a'.repeat(257), /exceeds maximum length of 256 bytes/],
  ['257 bytes in 129 characters', `${'é'.repeat(128)}a`, /exceeds maximum length of 256 bytes/],
  ['too long before a separator', `${'/'.repeat(300)}\0`, /exceeds maximum length/],
  ['a slash', 'a/b', /path separators/],
  ['a backslash', 'a\\b', /path separators/],
  ['two dots', 'a..b', /path separators or '\.\.'/],
  ['a separator before a NUL', '\0/', /path separators/],
  ['a NUL', 'a\0b', /null bytes/],
  ['a NUL before another control character', '\n\0', /null bytes/],
  ['a line break', 'a\nb', /control characters/],
  ['DEL', 'a\u007f', /control characters/],
  ['a C1 control character', 'a\u0085', /control characters/],
  ['half a character', 'a\ud800', /well-formed/],
  ['session: and nothing', 'session:', /must not be empty/],
  ['two prefixes', 'session:user:name', /one scope prefix/],
];

test('the error of a state key names the key, and what to do', () => {
  assert.throws(() => validateStateKey('notes/today'), {
    message:
      'state key must not contain path separators or \'..\'; it is "notes/today". Use another key.',
  });
});

for (const [name, key, message] of refused) {
  test(`a state key with ${name} is rejected`, () => {
    assert.throws(
      () => validateStateKey(key),
      (error) => {
        assert.ok(error instanceof InvalidStateKeyError);
        assert.equal(error.code, 'invalid_state_key');
        assert.match(error.message, message);
        return true;
      },
    );
  });
}

/** `unit: 'binary'` has these too, but builds a map of a million strings first. */
const codePoint = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code));

test('256 bytes, single dots, spaces and any script are accepted', () => {
  for (const key of [
    'a'.repeat(256),
    'é'.repeat(128),
    'a.b',
    'last city',
    'ключ',
    'temp_x',
    'app:',
  ]) {
    validateStateKey(key);
  }
});

test('a key is accepted exactly when it breaks no rule', () => {
  const unit = fc.constantFrom('a', '.', '/', '\\', '\0', '\u0007', 'é', ':', ' ');
  const key = fc.oneof(
    fc.string({ unit, maxLength: 8 }),
    fc.string({ unit: codePoint }),
    fc.string({ unit: fc.constantFrom('é', 'a'), minLength: 100, maxLength: 300 }),
  );
  fc.assert(
    fc.property(key, (candidate) => {
      const bad = breaksARule(candidate);
      if (bad || !candidate.isWellFormed())
        assert.throws(() => validateStateKey(candidate), InvalidStateKeyError);
      else validateStateKey(candidate);
    }),
  );
});

function breaksARule(key: string): boolean {
  const codes = Array.from(key, (character) => character.charCodeAt(0));
  const controls = codes.some((code) => code < 0x20 || (code >= 0x7f && code < 0xa0));
  const separators = ['/', '\\', '..'].some((separator) => key.includes(separator));
  const bytes = new TextEncoder().encode(key).length;
  return key === '' || bytes > MAX_STATE_KEY_LENGTH || controls || separators;
}

test('a prefix decides the scope of a key', () => {
  assert.equal(getStateScope('app:model'), 'app');
  assert.equal(getStateScope('user:name'), 'user');
  assert.equal(getStateScope('temp:draft'), 'temp');
  assert.equal(getStateScope('city'), 'session');
  assert.equal(getStateScope('session:city'), 'session');
});

test('temp_x is an ordinary session key', () => {
  assert.deepEqual(parseStateKey('temp_x'), { scope: 'session', name: 'temp_x' });
});

test('the prefix session: is optional', () => {
  assert.equal(normalizeStateKey('session:city'), 'city');
  assert.deepEqual(parseStateKey('session:city'), parseStateKey('city'));
});

test('splitting a valid key into scope and name loses nothing', () => {
  const prefix = fc.constantFrom('', 'app:', 'user:', 'temp:', 'session:');
  fc.assert(
    fc.property(prefix, fc.stringMatching(/^[a-z_]{1,20}$/), (start, name) => {
      const { scope, name: kept } = parseStateKey(start + name);
      assert.equal(formatStateKey(scope, kept), normalizeStateKey(start + name));
    }),
  );
});

test('a delta is validated and copied', () => {
  const list = [1];
  const delta = validateStateDelta({ 'session:city': 'Rome', 'user:list': list, gone: null });
  list.push(2);
  assert.deepEqual(delta, { city: 'Rome', 'user:list': [1], gone: null });
});

test('a delta with one invalid key or value is rejected as a whole', () => {
  assert.throws(() => validateStateDelta({ ok: 1, 'a/b': 1 }), InvalidStateKeyError);
  assert.throws(() => validateStateDelta({ ok: 1, when: new Map() }), NotSerializableError);
  assert.throws(() => validateStateDelta({ ok: undefined }), NotSerializableError);
  assert.throws(() => validateStateDelta({ city: 1, 'session:city': 2 }), InvalidInputError);
  assert.throws(() => validateStateDelta([]), InvalidInputError);
});
