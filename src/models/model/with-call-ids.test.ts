import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deriveCallId, getFunctionCalls, type Content } from '../../core/index.ts';
import { withCallIds } from './with-call-ids.ts';

const answer: Content = {
  role: 'model',
  parts: [
    { text: 'Two things.' },
    { functionCall: { id: 'toolu_1', name: 'f', args: {} }, thoughtSignature: 's' },
    { functionCall: { id: '', name: 'g', args: {} } },
  ],
};

test('calls get an id by their position, and keep the id of a provider that assigns one', () => {
  assert.deepEqual(withCallIds(answer, 'e-1', 3).parts, [
    { text: 'Two things.' },
    {
      functionCall: { id: deriveCallId('e-1', 3, 0), name: 'f', args: {}, providerId: 'toolu_1' },
      thoughtSignature: 's',
    },
    { functionCall: { id: deriveCallId('e-1', 3, 1), name: 'g', args: {} } },
  ]);
});

test('a random id from the provider does not change our id', () => {
  const again: Content = {
    role: 'model',
    parts: answer.parts.map((part) =>
      'functionCall' in part ? { functionCall: { ...part.functionCall, id: 'another' } } : part,
    ),
  };
  assert.deepEqual(listIds(again), listIds(answer));
});

function listIds(content: Content): readonly string[] {
  return getFunctionCalls(withCallIds(content, 'e-1', 0)).map(({ id }) => id);
}
