import { test } from 'node:test';
import { parkAcrossRestart } from './park-across-restart.ts';

// A thousand of them in test/long/managed.test.ts.
test('a hundred calls wait across a restart, and each gets its own answer', async () => {
  await parkAcrossRestart(100);
});
