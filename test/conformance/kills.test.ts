import { test } from 'node:test';
import { checkKill } from './check-kill.ts';

// Every boundary is tried in test/long/conformance.test.ts.
for (const [point, nth] of [
  ['before', 5],
  ['after', 8],
  ['after', 11],
] as const) {
  test(`a process that is killed ${point} its commit ${nth} loses nothing a client has seen`, async () => {
    await checkKill(point, nth);
  });
}
