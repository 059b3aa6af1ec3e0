import { test } from 'node:test';
import * as fc from 'fast-check';
import { assertJournalIsComplete, randomScenario } from '../nets/random-execution.ts';
import { assertRenamedNetContinues, renamingScenario } from '../nets/random-renaming.ts';

test('for 20,000 random nets and events, live, replayed and restored executors are equal at every step', async () => {
  await fc.assert(fc.asyncProperty(randomScenario, assertJournalIsComplete), { numRuns: 20_000 });
});

test('20,000 random nets under other names continue the journals that they wrote under their former names', async () => {
  await fc.assert(fc.asyncProperty(renamingScenario, assertRenamedNetContinues), {
    numRuns: 20_000,
  });
});
