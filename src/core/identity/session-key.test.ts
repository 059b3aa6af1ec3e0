import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { formatSessionKey, parseSessionKey } from './session-key.ts';

const good = { appName: 'app', userId: 'user', sessionId: 'session' };

test('a key keeps its three parts and drops other fields', () => {
  assert.deepEqual(parseSessionKey({ ...good, extra: 1 }), good);
});

test('each part holds up to 512 bytes', () => {
  assert.equal(parseSessionKey({ ...good, userId: 'ü'.repeat(256) }).userId.length, 256);
  assertRejected({ ...good, userId: `${'ü'.repeat(256)}a` }, 'userId');
});

for (const [name, value] of [
  ['nothing', undefined],
  ['a number', 5],
  ['an empty string', ''],
  ['a NUL', 'a\0b'],
  ['a line break', 'a\nb'],
  ['half a character', 'a\ud800'],
] as const) {
  test(`${name} is rejected in every part`, () => {
    for (const part of ['appName', 'userId', 'sessionId'])
      assertRejected({ ...good, [part]: value }, part);
  });
}

test('a value that is not an object is rejected', () => {
  assertRejected('app/user/session', 'sessionKey');
  assertRejected(null, 'sessionKey');
});

test('different keys have different text, on one line', () => {
  const identity = fc.string({
    minLength: 1,
    maxLength: 8,
    unit: fc.constantFrom('a', '/', '%', '2', 'F', ' ', 'é'),
  });
  const key = fc.record({ appName: identity, userId: identity, sessionId: identity });
  fc.assert(
    fc.property(key, key, (a, b) => {
      const same = JSON.stringify(a) === JSON.stringify(b);
      assert.equal(formatSessionKey(a) === formatSessionKey(b), same);
      assert.match(formatSessionKey(a), /^[^/\s]+\/[^/\s]+\/[^/\s]+$/);
    }),
  );
});

function assertRejected(value: unknown, field: string): void {
  assert.throws(
    () => parseSessionKey(value),
    (error) =>
      error instanceof InvalidInputError && error.field === field && error.code === 'invalid_input',
  );
}
