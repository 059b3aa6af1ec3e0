import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEventActions } from '../../core/index.ts';
import type { Event, Part } from '../../core/index.ts';
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
  const confirmations = createEventActions({
    requestedToolConfirmations: { c1: { toolName: 'refund', args: { n: 2 }, hint: 'Sure?' } },
  });
  const credentials = createEventActions({
    requestedAuthConfigs: { c3: { authScheme: { type: 'oauth2' } } },
  });
  const events = [
    event([call('c1', 'refund'), call('c2', 'ask_lawyer'), call('c3', 'search')]),
    event([], { longRunningToolIds: ['c1'], actions: confirmations }),
    event([], { longRunningToolIds: ['c2'] }),
    event([], { longRunningToolIds: ['c3'], actions: credentials }),
  ];
  assert.deepEqual(
    getPendingUserInputRequests(events).map(({ kind, interruptId, functionCallName }) => [
      kind,
      interruptId,
      functionCallName,
    ]),
    [
      ['confirmation', 'c1', 'refund'],
      ['input', 'c2', 'ask_lawyer'],
      ['credential', 'c3', 'search'],
    ],
  );
  const [first] = getPendingUserInputRequests(events);
  assert.deepEqual([first?.message, first?.args, first?.toolName], ['Sure?', { n: 2 }, 'refund']);
  const left = getPendingUserInputRequests([
    ...events,
    event([response('c1', 'refund'), response('c3', 'search')], { author: 'user' }),
  ]);
  assert.deepEqual(
    left.map(({ interruptId }) => interruptId),
    ['c2'],
  );
});
