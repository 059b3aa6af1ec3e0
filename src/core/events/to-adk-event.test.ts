import assert from 'node:assert/strict';
import { test } from 'node:test';
import { userContent } from '../content/content.ts';
import { deriveEventId } from '../identity/ids.ts';
import type { LogEntry } from './log-event.ts';
import { toAdkEvent } from './to-adk-event.ts';

const uid = 'uid-1';
const invocationId = 'e-1';

/** Returns the ADK event of an entry, without its id and time. */
function convert(entry: LogEntry): unknown {
  const event = toAdkEvent({ seq: 7, at: 1_700_000_000_123, ...entry }, uid);
  if (event === undefined) return undefined;
  const { id, timestamp, ...rest } = event;
  assert.equal(id, deriveEventId(uid, 7));
  assert.equal(timestamp, 1_700_000_000.123);
  return rest;
}

const noActions = {
  stateDelta: {},
  artifactDelta: {},
  requestedAuthConfigs: {},
  requestedToolConfirmations: {},
};

test('a user message is an event of the user', () => {
  const content = userContent('Hi');
  assert.deepEqual(
    convert({ type: 'user.message', invocationId, messageId: 'm', author: 'user', content }),
    {
      invocationId,
      author: 'user',
      content,
      actions: noActions,
    },
  );
});

test('a model answer keeps its calls, usage, finish reason and provider metadata', () => {
  const message = {
    invocationId,
    author: 'billing',
    branch: 'triage.billing',
    content: {
      role: 'model',
      parts: [{ text: 'a' }, { functionCall: { id: 'c', name: 'f', args: {} } }],
    },
    usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
    finishReason: 'tool_calls',
    providerMetadata: { 'x-request-id': 'r1' },
    longRunningToolIds: ['c'],
  } as const;
  const { usage: _, ...rest } = message;
  assert.deepEqual(convert({ type: 'agent.message', ...message, actions: { escalate: true } }), {
    ...rest,
    finishReason: 'STOP',
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 },
    actions: { ...noActions, escalate: true },
  });
});

test('a call has no event, except when it is answered from outside', () => {
  const call = {
    type: 'tool.call',
    invocationId,
    author: 'a',
    callId: 'c',
    name: 'rm',
    args: { path: 'x' },
  } as const;
  assert.equal(convert({ ...call, needs: 'nothing' }), undefined);
  assert.deepEqual(convert({ ...call, needs: 'result' }), {
    invocationId,
    author: 'a',
    longRunningToolIds: ['c'],
    actions: noActions,
  });
  const toolConfirmation = {
    hint: 'Please approve or reject the tool call rm() by responding with a FunctionResponse with an expected ToolConfirmation payload.',
    confirmed: false,
  };
  const originalFunctionCall = { id: 'c', name: 'rm', args: { path: 'x' } };
  assert.deepEqual(convert({ ...call, needs: 'approval', fingerprint: 'f00' }), {
    invocationId,
    author: 'a',
    content: {
      role: 'user',
      parts: [
        {
          functionCall: {
            id: 'adk-c',
            name: 'adk_request_confirmation',
            args: { originalFunctionCall, toolConfirmation },
          },
        },
      ],
    },
    longRunningToolIds: ['adk-c'],
    actions: {
      ...noActions,
      skipSummarization: true,
      requestedToolConfirmations: { c: toolConfirmation },
    },
  });
});

test('the result of a call is a message of the tool, and an error when the outcome is not ok', () => {
  const result = {
    type: 'tool.result',
    invocationId,
    author: 'a',
    callId: 'c',
    name: 'f',
  } as const;
  const event = (response: unknown, isError?: true): unknown => ({
    invocationId,
    author: 'a',
    content: {
      role: 'tool',
      parts: [{ functionResponse: { id: 'c', name: 'f', response, ...(isError && { isError }) } }],
    },
    actions: noActions,
  });
  assert.deepEqual(
    convert({ ...result, outcome: 'ok', response: { rows: 1 } }),
    event({ rows: 1 }),
  );
  assert.deepEqual(convert({ ...result, outcome: 'ok', response: [1] }), event({ result: [1] }));
  for (const outcome of [
    'error',
    'timeout',
    'unknown',
    'denied',
    'cancelled',
    'not_found',
    'invalid',
  ] as const) {
    assert.deepEqual(
      convert({ ...result, outcome, response: { error: 'x' } }),
      event({ error: 'x' }, true),
    );
  }
});

test('a state change is a delta, in which a removed key is null', () => {
  assert.deepEqual(
    convert({ type: 'state.changed', delta: { a: 1 }, removed: ['b'], invocationId }),
    {
      invocationId,
      author: 'system',
      actions: { ...noActions, stateDelta: { a: 1, b: null } },
    },
  );
});

test('an error and a rewind outside a turn have no invocation', () => {
  assert.deepEqual(convert({ type: 'error', code: 'retries_exhausted', message: 'Gave up.' }), {
    invocationId: '',
    author: 'system',
    errorCode: 'retries_exhausted',
    errorMessage: 'Gave up.',
    actions: noActions,
  });
  assert.deepEqual(convert({ type: 'session.rewound', beforeInvocationId: 'e-9' }), {
    invocationId: '',
    author: 'user',
    actions: { ...noActions, rewindBeforeInvocationId: 'e-9' },
  });
});

test('the start and end of a turn are not ADK events', () => {
  const entries: readonly LogEntry[] = [
    { type: 'tool.attempt', invocationId, callId: 'c', name: 'f', attempt: 2, reason: 'crash' },
    { type: 'tool.answered', invocationId, callId: 'c', decision: 'approved' },
    { type: 'turn.started', invocationId },
    { type: 'turn.waiting', invocationId, stopReason: 'requires_action', callIds: ['c'] },
    { type: 'turn.resumed', invocationId },
    { type: 'turn.ended', invocationId, stopReason: 'end_turn' },
    { type: 'model.attempt', invocationId, attempt: 2, reason: 'retry' },
    { type: 'session.upgraded', from: 'h1', to: 'h2' },
  ];
  assert.deepEqual(
    entries.map(convert),
    entries.map(() => undefined),
  );
});
