import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEventActions } from '../../core/index.ts';
import type { Event, JsonObject, Part } from '../../core/index.ts';
import { getPendingUserInputRequests } from '../index.ts';

const event = (parts: readonly Part[], more: Partial<Event> = {}): Event => ({
  id: 'e',
  timestamp: 0,
  invocationId: 'i',
  author: 'clerk',
  content: { role: 'model', parts },
  actions: createEventActions(),
  ...more,
});

const call = (id: string, name: string): Part => ({ functionCall: { id, name, args: { n: 1 } } });
const response = (id: string, name: string): Part => ({
  functionResponse: { id, name, response: {} },
});

test('requests without a function response are pending, with the id and the name that answer them', () => {
  const ask = (id: string, name: string, args: JsonObject): Event =>
    event([{ functionCall: { id: `adk-${id}`, name, args } }], {
      longRunningToolIds: [`adk-${id}`],
    });
  const events = [
    event([call('c1', 'refund'), call('c2', 'ask_lawyer'), call('c3', 'search')], {
      longRunningToolIds: ['c2'],
    }),
    ask('c1', 'adk_request_confirmation', {
      originalFunctionCall: { id: 'c1', name: 'refund', args: { n: 2 } },
      toolConfirmation: { hint: 'Sure?', confirmed: false },
    }),
    ask('c3', 'adk_request_credential', {
      function_call_id: 'c3',
      auth_config: { authScheme: { type: 'oauth2' } },
    }),
  ];
  assert.deepEqual(
    getPendingUserInputRequests(events).map(({ kind, interruptId, functionCallName }) => [
      kind,
      interruptId,
      functionCallName,
    ]),
    [
      ['input', 'c2', 'ask_lawyer'],
      ['confirmation', 'adk-c1', 'adk_request_confirmation'],
      ['credential', 'adk-c3', 'adk_request_credential'],
    ],
  );
  const [, asked, credential] = getPendingUserInputRequests(events);
  assert.deepEqual([asked?.message, asked?.args, asked?.toolName], ['Sure?', { n: 2 }, 'refund']);
  assert.deepEqual(credential?.authConfig, { authScheme: { type: 'oauth2' } });
  const left = getPendingUserInputRequests([
    ...events,
    event([response('c1', 'refund'), response('c3', 'search')], { author: 'user' }),
  ]);
  assert.deepEqual(
    left.map(({ interruptId }) => interruptId),
    ['c2'],
  );
});
