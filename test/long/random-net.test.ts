import { test } from 'node:test';
import * as fc from 'fast-check';
import { assertJournalIsComplete, randomScenario } from '../nets/random-execution.ts';

test('for 20,000 random nets and events, live, replayed and restored executors are equal at every step', async () => {
  await fc.assert(fc.asyncProperty(randomScenario, assertJournalIsComplete), { numRuns: 20_000 });
});
