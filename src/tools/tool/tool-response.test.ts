import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { InvalidStateKeyError, MAX_INLINE_DATA_SIZE } from '../../core/index.ts';
import { failedToolResponse, toToolResponse } from './tool-response.ts';

function inlineDataResponse(sizeBytes: number): object {
  const data = Buffer.alloc(sizeBytes).toString('base64');
  return { pages: [{ inlineData: { mimeType: 'image/png', data } }] };
}

test('an object is the response itself, and any other value is its result', () => {
  assert.deepEqual(toToolResponse({ rows: 2 }), { outcome: 'ok', response: { rows: 2 } });
  assert.deepEqual(toToolResponse('done').response, { result: 'done' });
  assert.deepEqual(toToolResponse([1, 2]).response, { result: [1, 2] });
  assert.deepEqual(toToolResponse(null).response, { result: null });
  assert.deepEqual(toToolResponse(undefined).response, { result: null });
  assert.deepEqual(toToolResponse(new Date(0)).response, { result: '1970-01-01T00:00:00.000Z' });
  assert.deepEqual(toToolResponse({ a: undefined, b: 1 }).response, { b: 1 });
});

test('a value that JSON cannot represent is an error for the model', () => {
  assert.deepEqual(toToolResponse({ rows: new Map() }), {
    outcome: 'error',
    response: {
      error: {
        code: 'not_serialisable',
        message:
          'result.rows is an instance of Map, which JSON cannot hold: ' +
          'turn it into a plain object, or give it a toJSON method.',
      },
    },
  });
});

test('every return value of a tool becomes a JSON response', () => {
  const anything = fc.anything({
    withBigInt: true,
    withMap: true,
    withDate: true,
    withTypedArray: true,
  });
  fc.assert(
    fc.property(anything, (returned) => {
      const { response } = toToolResponse(returned);
      assert.deepEqual(JSON.parse(JSON.stringify(response)), response);
    }),
  );
});

test('a result whose toJSON throws is an error, not a crash', () => {
  const returned = {
    toJSON: () => {
      throw new RangeError('no');
    },
  };
  assert.deepEqual(toToolResponse(returned).response, {
    error: { code: 'tool_failed', message: 'no' },
  });
});

test('inline data of 10 MiB is accepted and one byte more is an error, at any position', () => {
  assert.equal(toToolResponse(inlineDataResponse(MAX_INLINE_DATA_SIZE)).outcome, 'ok');
  const { outcome, response } = toToolResponse(inlineDataResponse(MAX_INLINE_DATA_SIZE + 1));
  assert.equal(outcome, 'error');
  assert.match(
    JSON.stringify(response),
    /inline_data_too_large.*result\.pages\[0\]\.inlineData\.data/,
  );
});

test('an error has its message, and its code when it is a PetrichorError', () => {
  assert.deepEqual(failedToolResponse(new TypeError('no such file', { cause: 'secret' })), {
    outcome: 'error',
    response: { error: { code: 'tool_failed', message: 'no such file' } },
  });
  assert.deepEqual(failedToolResponse(new InvalidStateKeyError('', 'bad key')).response, {
    error: { code: 'invalid_state_key', message: 'bad key; it is "". Use another key.' },
  });
  assert.deepEqual(failedToolResponse('offline').response, {
    error: { code: 'tool_failed', message: 'offline' },
  });
  assert.deepEqual(failedToolResponse({ key: 'secret' }).response, {
    error: { code: 'tool_failed', message: 'The tool threw something that is not an error.' },
  });
});
