import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPetrichorError } from './petrichor-error.ts';
import { InvalidInputError } from './invalid-input-error.ts';

test('an error has a name and a code for programs, and a field and a cause for people', () => {
  const cause = new Error('inner');
  const error = new InvalidInputError('content.role', 'must be user.', { cause });
  assert.equal(error.name, 'InvalidInputError');
  assert.equal(error.code, 'invalid_input');
  assert.equal(error.message, 'content.role: must be user.');
  assert.equal(error.cause, cause);
  assert.equal(isPetrichorError(error), true);
  assert.equal(isPetrichorError(cause), false);
});

test('an error created without options has no cause', () => {
  assert.equal('cause' in new InvalidInputError('a', 'b'), false);
});
