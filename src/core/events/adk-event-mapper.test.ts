import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deriveEventId } from '../identity/ids.ts';
import { getFunctionResponses } from '../content/function-calls.ts';
import { AdkEventMapper } from './adk-event-mapper.ts';
import type { Event } from './event.ts';
import { isFinalResponse } from './event.ts';
import type { LogEntry } from './log-event.ts';

const invocationId = 'e-1';

/** A message that makes these calls. */
const calls = (...ids: readonly string[]): LogEntry => ({
  type: 'agent.message',
  invocationId,
  author: 'a',
  content: {
    role: 'model',
    parts: ids.map((id) => ({ functionCall: { id, name: 'f', args: { of: id } } })),
  },
});

const result = (callId: string): LogEntry => ({
  type: 'tool.result',
  invocationId,
  author: 'a',
  callId,
  name: 'f',
  outcome: 'ok',
  response: { of: callId },
  actions: { artifactDelta: { [callId]: 1 } },
});

const changed: LogEntry = {
  type: 'state.changed',
  invocationId,
  author: 'a',
  delta: { key: 1 },
};

const waiting: LogEntry = {
  type: 'turn.waiting',
  invocationId,
  stopReason: 'requires_action',
  callIds: [],
};

/** The events of each entry. */
function map(entries: readonly LogEntry[]): readonly (readonly Event[])[] {
  const mapper = new AdkEventMapper('uid');
  return entries.map((entry, index) => mapper.add({ seq: index + 1, at: 1000 * index, ...entry }));
}

const resultIds = (events: readonly Event[] = []): readonly (readonly string[])[] =>
  events.map((event) => getFunctionResponses(event).map(({ id }) => id));

test('the results of the calls of one answer are one event, in the order of the calls', () => {
  const events = map([calls('x', 'y'), result('y'), changed, result('x')]);
  assert.deepEqual(
    events.map(({ length }) => length),
    [1, 0, 0, 1],
  );
  const [merged] = events[3] ?? [];
  assert.deepEqual(resultIds(events[3]), [['x', 'y']]);
  assert.equal(merged?.id, deriveEventId('uid', 4));
  assert.deepEqual(merged.actions.artifactDelta, { x: 1, y: 1 });
  assert.deepEqual(merged.actions.stateDelta, { key: 1 });
});

test('a call that waits does not hold up the results of others', () => {
  const approval: LogEntry = {
    type: 'tool.call',
    invocationId,
    author: 'a',
    callId: 'y',
    name: 'f',
    args: { of: 'y' },
    needs: 'approval',
  };
  const answered: LogEntry = {
    type: 'tool.answered',
    invocationId,
    callId: 'y',
    decision: 'approved',
  };
  const events = map([
    calls('x', 'y'),
    approval,
    result('x'),
    waiting,
    answered,
    changed,
    result('y'),
  ]);
  assert.deepEqual(events.map(resultIds), [[[]], [[]], [['x']], [], [], [], [['y']]]);
  assert.deepEqual(events[6]?.[0]?.actions.stateDelta, { key: 1 });
  assert.ok(events[1]?.every(isFinalResponse));
});

test('results are shown at the latest when the turn waits or ends', () => {
  const ended: LogEntry = { type: 'turn.ended', invocationId, stopReason: 'interrupted' };
  for (const last of [waiting, ended])
    assert.deepEqual(map([calls('x', 'y'), result('x'), last]).map(resultIds), [[[]], [], [['x']]]);
});

test('a state change without running calls, and a result of an unknown call, are events of their own', () => {
  assert.deepEqual(
    map([changed, calls('x'), result('x'), changed, result('z')]).map(({ length }) => length),
    [1, 1, 1, 1, 1],
  );
});

test('a tool that asks for a confirmation or a credential names its call and its arguments', () => {
  const ask = (request: { readonly [key: string]: object }): LogEntry => ({
    type: 'tool.pending',
    invocationId,
    author: 'a',
    callId: 'x',
    name: 'f',
    request: JSON.parse(JSON.stringify(request)),
  });
  const confirmation = map([calls('x'), ask({ adk_request_confirmation: { hint: 'Sure?' } })]);
  assert.deepEqual(confirmation[1]?.[0]?.content?.parts, [
    {
      functionCall: {
        id: 'adk-x',
        name: 'adk_request_confirmation',
        args: {
          originalFunctionCall: { id: 'x', name: 'f', args: { of: 'x' } },
          toolConfirmation: { hint: 'Sure?', confirmed: false },
        },
      },
    },
  ]);
  const auth = { authScheme: { type: 'oauth2' } };
  const [credential] = map([calls('x'), ask({ adk_request_credential: auth })])[1] ?? [];
  assert.deepEqual(credential?.content?.parts, [
    {
      functionCall: {
        id: 'adk-x',
        name: 'adk_request_credential',
        args: { function_call_id: 'x', auth_config: auth },
      },
    },
  ]);
  assert.deepEqual(credential.actions.requestedAuthConfigs, { x: auth });
  assert.ok(isFinalResponse(credential));
});
