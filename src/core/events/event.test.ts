import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEventActions } from './event-actions.ts';
import { isFinalResponse, eventMessage, type Event } from './event.ts';
import { userContent, type Part } from '../content/content.ts';

function eventWith(parts: readonly Part[], more: Partial<Event> = {}): Event {
  const content = { role: 'model', parts } as const;
  return {
    id: 'i',
    timestamp: 1.5,
    invocationId: 'e-1',
    author: 'a',
    content,
    actions: createEventActions(),
    ...more,
  };
}

const call: Part = { functionCall: { id: 'c', name: 'f', args: {} } };
const answer: Part = { functionResponse: { id: 'c', name: 'f', response: {} } };
const codeResult: Part = { opaque: { codeExecutionResult: { outcome: 'OUTCOME_OK' } } };

test('a message without calls is final', () => {
  assert.equal(isFinalResponse(eventWith([{ text: 'Done.' }])), true);
  assert.equal(isFinalResponse(eventWith([codeResult, { text: 'Done.' }])), true);
});

test('an event with a call, a result, partial content or a trailing code result is not final', () => {
  assert.equal(isFinalResponse(eventWith([{ text: 'Let me see.' }, call])), false);
  assert.equal(isFinalResponse(eventWith([answer])), false);
  assert.equal(isFinalResponse(eventWith([{ text: 'Do' }], { partial: true })), false);
  assert.equal(isFinalResponse(eventWith([{ text: 'Run:' }, codeResult])), false);
});

test('an event with a skipSummarization result or a long-running call is final', () => {
  assert.equal(
    isFinalResponse(
      eventWith([answer], { actions: createEventActions({ skipSummarization: true }) }),
    ),
    true,
  );
  assert.equal(isFinalResponse(eventWith([call], { longRunningToolIds: ['c'] })), true);
  assert.equal(isFinalResponse(eventWith([call], { longRunningToolIds: [] })), false);
});

test('the message of an event is its content', () => {
  const content = userContent('Hi');
  assert.equal(eventMessage({ ...eventWith([]), content }), content);
});

test('actions that are not set are empty', () => {
  assert.deepEqual(createEventActions({ escalate: true }), {
    stateDelta: {},
    artifactDelta: {},
    requestedAuthConfigs: {},
    requestedToolConfirmations: {},
    escalate: true,
  });
});
