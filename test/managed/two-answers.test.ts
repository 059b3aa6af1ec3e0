import { test } from 'node:test';
import { answerAtOnce as answerConcurrently } from './two-answers.ts';

test('when two processes answer the same call, one answer is accepted and reaches the model', async () => {
  await answerConcurrently(3);
});
