import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InputTooLargeError } from '../../core/index.ts';
import { toHttpError } from './http-error.ts';

test('an input that is too large for the runtime is a 413 with its code', () => {
  const { status, type, details } = toHttpError(new InputTooLargeError('message', 10));
  assert.equal(status, 413);
  assert.equal(type, 'request_too_large');
  assert.deepEqual(details, { error_code: 'input_too_large' });
});
