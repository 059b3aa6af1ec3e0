import { test } from 'node:test';
import { answerAtOnce as answerConcurrently } from './answer-concurrently.ts';

test('when two processes answer the same call, one answer is accepted and reaches the model', async () => {
  await answerConcurrently(3);
});
