import { test } from 'node:test';
import { answerAtOnce } from './two-answers.ts';

test('of two processes that answer one call, one counts, and the model hears that one', async () => {
  await answerAtOnce(3);
});
