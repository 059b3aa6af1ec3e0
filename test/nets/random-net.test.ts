import { test } from 'node:test';
import * as fc from 'fast-check';
import { assertJournalIsComplete, randomScenario } from './random-execution.ts';

test('for random nets and random stories the journal says it all: live, replayed and restored are one at every step', async () => {
  await fc.assert(fc.asyncProperty(randomScenario, assertJournalIsComplete), { numRuns: 250 });
});
