import { test } from 'node:test';
import { checkKill } from './check-kill.ts';

// Every boundary is tried in test/long/conformance.test.ts.
for (const [story, point, nth] of [
  ['turns', 'before', 5],
  ['turns', 'after', 8],
  ['turns', 'after', 11],
  ['outcome', 'after', 5],
  ['outcome', 'before', 7],
] as const) {
  test(`a process that is killed ${point} its commit ${nth} in ${story} loses nothing a client has seen`, async () => {
    await checkKill(story, point, nth);
  });
}
