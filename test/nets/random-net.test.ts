import { test } from 'node:test';
import * as fc from 'fast-check';
import { assertJournalIsComplete, randomScenario } from './random-execution.ts';
import { assertRenamedNetContinues, renamingScenario } from './random-renaming.ts';

test('for random nets and random events, live, replayed and restored executors are equal at every step', async () => {
  await fc.assert(fc.asyncProperty(randomScenario, assertJournalIsComplete), { numRuns: 150 });
});

test('random nets under other names continue the journals that they wrote under their former names', async () => {
  await fc.assert(fc.asyncProperty(renamingScenario, assertRenamedNetContinues), { numRuns: 150 });
});
