import { test } from 'node:test';
import { checkKill } from './check-kill.ts';

// test/long/conformance.test.ts tries every commit.
for (const [scenario, point, nth] of [
  ['turns', 'before', 5],
  ['turns', 'after', 11],
  ['outcome', 'after', 5],
  ['outcome', 'before', 7],
] as const) {
  test(`a process that is killed ${point} its commit ${nth} in ${scenario} loses no event that a client has seen`, async () => {
    await checkKill(scenario, point, nth);
  });
}
