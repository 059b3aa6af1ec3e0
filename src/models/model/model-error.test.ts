import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidInputError } from '../../core/index.ts';
import { ModelError, toModelError, type ModelErrorKind } from './model-error.ts';

test('the kind of an error decides whether it is retryable', () => {
  const retryable = ['rate_limit', 'overloaded', 'server', 'network', 'truncated'] as const;
  const final = ['auth', 'not_found', 'bad_request', 'protocol', 'aborted'] as const;
  assert.deepEqual(
    retryable.map(isRetryable),
    retryable.map(() => true),
  );
  assert.deepEqual(
    final.map(isRetryable),
    final.map(() => false),
  );
});

test('any value that a model throws becomes a ModelError', () => {
  const own = new ModelError({ model: 'm', kind: 'auth', message: 'no' });
  assert.equal(toModelError(own, 'm'), own);
  const cases: readonly (readonly [unknown, ModelErrorKind])[] = [
    [new DOMException('stop', 'AbortError'), 'aborted'],
    [new InvalidInputError('a', 'b'), 'bad_request'],
    [new TypeError('x is undefined'), 'protocol'],
    ['a string', 'protocol'],
  ];
  for (const [thrown, kind] of cases) {
    const error = toModelError(thrown, 'm');
    assert.deepEqual([error.kind, error.cause], [kind, thrown]);
  }
  assert.equal(toModelError('a string', 'm').message, 'Model "m": a string');
});

function isRetryable(kind: ModelErrorKind): boolean {
  return new ModelError({ model: 'm', kind, message: 'no' }).retryable;
}
