import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertInputSize, InputTooLargeError } from './input-size.ts';

const refused = (value: unknown): boolean => {
  try {
    assertInputSize(value, 'message', 1_000);
    return false;
  } catch (error) {
    assert.ok(error instanceof InputTooLargeError);
    assert.match(
      error.message,
      /^message is larger than 1000 bytes: save .* or raise maxInputBytes/,
    );
    return true;
  }
};

test('the size of a value includes all its members, at any depth', () => {
  assert.equal(refused('x'.repeat(900)), false);
  assert.equal(refused('x'.repeat(1_001)), true);
  assert.equal(refused({ parts: [{ text: 'x'.repeat(600) }, { text: 'x'.repeat(600) }] }), true);
  assert.equal(refused(Array.from({ length: 1_001 }, () => 1)), true);
  assert.equal(refused({ ['k'.repeat(1_001)]: 1 }), true);
  assert.equal(refused([{ a: [1, 2, 3], b: null }]), false);
});

test('a cyclic value is rejected as too large', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  assert.equal(refused(cyclic), true);
});
