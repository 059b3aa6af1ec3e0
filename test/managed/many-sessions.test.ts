import { test } from 'node:test';
import { parkAcrossRestart } from './park-across-restart.ts';

// test/long/managed.test.ts runs a thousand of them.
test('a hundred calls wait across a restart, and each gets its own result', async () => {
  await parkAcrossRestart(100);
});
