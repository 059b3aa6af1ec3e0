import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pending } from '../../tool/pending.ts';
import { resolveAnswer, resolveInputRequired } from './elicitation.ts';

const settings = { server: 'shop' };

test('a missing field of an answer gets the default of the request, and the server receives both', () => {
  const pendingAnswer = resolveInputRequired(
    {
      resultType: 'input_required',
      inputRequests: {
        order: {
          method: 'elicitation/create',
          params: {
            mode: 'form',
            message: 'Which shirt?',
            requestedSchema: {
              type: 'object',
              properties: {
                colour: { type: 'string', default: 'red' },
                size: { type: 'integer', default: 40 },
              },
              required: ['colour', 'size'],
            },
          },
        },
      },
    },
    settings,
  );
  assert.ok(pendingAnswer instanceof Pending);
  const { resume = null } = pendingAnswer;
  const answer = { response: { colour: 'blue' }, isError: false, resume };
  assert.deepEqual(resolveAnswer(answer, settings), {
    inputResponses: { order: { action: 'accept', content: { colour: 'blue', size: 40 } } },
  });
});
