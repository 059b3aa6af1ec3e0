import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  APICallError,
  JSONParseError,
  TypeValidationError,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider';
import { ModelError, type ModelErrorKind } from '../model/model-error.ts';
import { createRedactor } from './redact.ts';
import { toCallError } from './to-call-error.ts';
import { UnsupportedFeatureError } from '../model/unsupported-feature-error.ts';

const secret = 'sk-very-secret-key';
const call = { model: 'm', answering: false, redact: createRedactor([secret]) };
const duringResponse = { ...call, answering: true };

function httpError(statusCode: number, error: object = {}, headers: Record<string, string> = {}) {
  return new APICallError({
    message: 'It failed.',
    url: 'https://example.com',
    requestBodyValues: {},
    statusCode,
    responseHeaders: headers,
    responseBody: JSON.stringify({ error }),
  });
}

test('the HTTP status determines the kind of the error', () => {
  const kinds: readonly (readonly [number, ModelErrorKind])[] = [
    [400, 'bad_request'],
    [401, 'auth'],
    [402, 'auth'],
    [403, 'auth'],
    [404, 'not_found'],
    [408, 'server'],
    [413, 'bad_request'],
    [422, 'bad_request'],
    [429, 'rate_limit'],
    [500, 'server'],
    [502, 'server'],
    [503, 'overloaded'],
    [504, 'server'],
    [529, 'overloaded'],
  ];
  for (const [status, kind] of kinds) assert.equal(toCallError(httpError(status), call).kind, kind);
});

test('the error code determines the kind where the status is ambiguous', () => {
  const quota = httpError(429, { code: 'insufficient_quota', message: 'Pay first.' });
  assert.deepEqual(
    [toCallError(quota, call).kind, toCallError(quota, call).retryable],
    ['auth', false],
  );
  const overloaded = httpError(500, { type: 'overloaded_error', message: 'Too many.' });
  assert.equal(toCallError(overloaded, call).kind, 'overloaded');
});

test('error frames of a stream are recognized in every known shape', () => {
  const frames: readonly (readonly [unknown, ModelErrorKind])[] = [
    [{ message: 'no', type: 'rate_limit_exceeded', code: null }, 'rate_limit'],
    [{ error: { message: 'no', type: 'overloaded_error' } }, 'overloaded'],
    [
      { type: 'response.failed', response: { error: { code: 'server_error', message: 'no' } } },
      'server',
    ],
    [{ message: 'no', code: 503 }, 'overloaded'],
    [{ message: 'no', code: '429' }, 'rate_limit'],
    [{ error: 'invalid_api_key' }, 'auth'],
    [{ message: 'no', type: 'something_new' }, 'server'],
    ['just text', 'protocol'],
  ];
  for (const [thrown, kind] of frames) {
    assert.equal(toCallError(thrown, duringResponse).kind, kind, JSON.stringify(thrown));
  }
});

test('a missing reply is a network error, and a reply that breaks off is truncated', () => {
  const reset = Object.assign(new Error('read'), { code: 'ECONNRESET' });
  const failed = new TypeError('fetch failed', { cause: reset });
  assert.equal(toCallError(failed, call).kind, 'network');
  assert.match(toCallError(failed, call).message, /ECONNRESET/);
  assert.equal(toCallError(failed, duringResponse).kind, 'truncated');
  assert.equal(toCallError(httpError(200), call).kind, 'truncated');
});

test('an unreadable reply is a protocol error, and so is an internal fault', () => {
  const garbage = new JSONParseError({ text: '{', cause: new Error('x') });
  assert.equal(toCallError(garbage, duringResponse).kind, 'protocol');
  const strange = new TypeValidationError({ value: { x: 1 }, cause: new Error('x') });
  assert.equal(toCallError(strange, duringResponse).kind, 'protocol');
  assert.equal(toCallError(new TypeError('x is undefined'), duringResponse).kind, 'protocol');
});

test('a feature that the package does not support is an UnsupportedFeatureError', () => {
  const error = toCallError(new UnsupportedFunctionalityError({ functionality: 'video' }), call);
  assert.ok(error instanceof UnsupportedFeatureError);
  assert.deepEqual([error.feature, error.code], ['video', 'model_unsupported']);
});

test('a ModelError is returned unchanged', () => {
  const own = new ModelError({ model: 'm', kind: 'auth', message: 'no' });
  assert.equal(toCallError(own, call), own);
});

test('an error contains no secret, whichever field the secret was in', () => {
  const cause = new Error(`bad ${secret}`);
  const error = toCallError(
    new APICallError({
      message: `Bad key ${secret}`,
      url: `https://example.com?key=${secret}`,
      requestBodyValues: { key: secret },
      cause,
    }),
    call,
  );
  assert.doesNotMatch(JSON.stringify(error) + String(error) + String(error.stack), /very-secret/);
  assert.equal(error.cause, undefined);
});
