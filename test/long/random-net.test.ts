import { test } from 'node:test';
import * as fc from 'fast-check';
import { assertJournalIsComplete, randomScenario } from '../nets/random-execution.ts';

test('for thousands of random nets and stories the journal says it all', async () => {
  await fc.assert(fc.asyncProperty(randomScenario, assertJournalIsComplete), { numRuns: 20_000 });
});
