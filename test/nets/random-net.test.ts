import { test } from 'node:test';
import * as fc from 'fast-check';
import { assertJournalIsComplete, randomScenario } from './random-execution.ts';

test('for random nets and random events, live, replayed and restored executors are equal at every step', async () => {
  await fc.assert(fc.asyncProperty(randomScenario, assertJournalIsComplete), { numRuns: 250 });
});
