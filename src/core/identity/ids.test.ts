import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  deriveCallId,
  deriveEventId,
  deriveInvocationId,
  newMessageId,
  newSessionId,
} from './ids.ts';

const uuidOfVersion8 = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('an event has the same UUID in every process', () => {
  assert.equal(deriveEventId('s', 1), deriveEventId('s', 1));
  assert.equal(deriveEventId('6f1a', 42), '29854722-7a5b-8d3b-bfe6-c01a698fa6ab');
});

test('every derived id is a UUID of version 8, and different sources give different ids', () => {
  const source = fc.tuple(fc.string(), fc.nat());
  fc.assert(
    fc.property(fc.uniqueArray(source, { selector: String, minLength: 2 }), (sources) => {
      const ids = sources.map(([uid, seq]) => deriveEventId(uid, seq));
      for (const id of ids) assert.match(id, uuidOfVersion8);
      assert.equal(new Set(ids).size, ids.length);
    }),
  );
});

test('a message delivered twice starts one invocation', () => {
  const message = newMessageId();
  assert.equal(deriveInvocationId(message), deriveInvocationId(message));
  assert.notEqual(deriveInvocationId(message), deriveInvocationId(newMessageId()));
  assert.match(deriveInvocationId(message).replace(/^e-/, ''), uuidOfVersion8);
});

test('calls of one invocation have different ids that every provider accepts', () => {
  const invocation = deriveInvocationId('m');
  const ids = [
    deriveCallId(invocation, 0, 0),
    deriveCallId(invocation, 0, 1),
    deriveCallId(invocation, 1, 0),
  ];
  assert.equal(new Set(ids).size, 3);
  assert.match(deriveCallId(invocation, 9999, 9999), /^[a-z0-9_]{1,40}$/);
  assert.deepEqual(ids, [
    deriveCallId(invocation, 0, 0),
    deriveCallId(invocation, 0, 1),
    deriveCallId(invocation, 1, 0),
  ]);
});

test('new ids are never the same', () => {
  assert.notEqual(newSessionId(), newSessionId());
});
