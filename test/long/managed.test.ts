import { test } from 'node:test';
import { parkAcrossRestart } from '../managed/park-across-restart.ts';

test('a thousand calls wait across a restart, and each gets its own answer', async () => {
  await parkAcrossRestart(1000);
});
