import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEvent, isFinalResponse as isFinalInStock } from '@google/adk';
import { createEventActions, isFinalResponse } from '../../src/core/index.ts';
import type { Content, Event, EventActions } from '../../src/core/index.ts';

const call = { functionCall: { id: 'c', name: 'f', args: {} } };
const response = { functionResponse: { id: 'c', name: 'f', response: {} } };
const codeResult = { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '' } };

/** The parts of a message in both packages. A part that Petrichor does not know is opaque. */
const contents: readonly (readonly object[] | undefined)[] = [
  undefined,
  [],
  [{ text: 'Hi.' }],
  [{ text: 'Hm.', thought: true }],
  [call],
  [{ text: 'I look.' }, call],
  [response],
  [codeResult],
  [codeResult, { text: 'Done.' }],
  [{ text: 'Done.' }, codeResult],
];

const actions: readonly Partial<EventActions>[] = [
  {},
  { skipSummarization: true },
  { escalate: true },
  { stateDelta: { a: 1 } },
  { requestedAuthConfigs: { c: { authScheme: { type: 'apiKey' } } } },
  { requestedToolConfirmations: { c: { hint: 'Sure?' } } },
];

test('an event is a final response exactly where it is one in ADK', () => {
  let final = 0;
  let total = 0;
  for (const parts of contents)
    for (const action of actions)
      for (const partial of [undefined, true, false])
        for (const longRunningToolIds of [undefined, [], ['c']]) {
          const more = {
            ...(partial !== undefined && { partial }),
            ...(longRunningToolIds && { longRunningToolIds }),
          };
          const stock = createEvent({
            author: 'a',
            ...(parts && { content: { role: 'model', parts: [...parts] } }),
            actions: structuredClone({ ...action }) as never,
            ...structuredClone(more),
          });
          const own: Event = {
            id: 'e',
            timestamp: 0,
            invocationId: 'e-1',
            author: 'a',
            ...(parts && { content: toContent(parts) }),
            actions: createEventActions(action),
            ...more,
          };
          const expected = isFinalInStock(stock);
          assert.equal(isFinalResponse(own), expected, JSON.stringify(own));
          total += 1;
          final += Number(expected);
        }
  assert.equal(total, 540);
  assert.ok(final > 100 && final < 540);
});

function toContent(parts: readonly object[]): Content {
  return {
    role: 'model',
    parts: parts.map((part) =>
      'codeExecutionResult' in part ? { opaque: codeResult } : (part as Content['parts'][number]),
    ),
  };
}
