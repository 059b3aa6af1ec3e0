import { test } from 'node:test';
import * as fc from 'fast-check';
import { assertJournalSaysItAll, story } from '../nets/random-play.ts';

test('for thousands of random nets and stories the journal says it all', async () => {
  await fc.assert(fc.asyncProperty(story, assertJournalSaysItAll), { numRuns: 20_000 });
});
