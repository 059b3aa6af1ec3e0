import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkKill } from '../conformance/check-kill.ts';

for (const point of ['before', 'after'] as const) {
  test(`a process may be killed ${point} any commit: nothing is lost and nothing comes twice`, async () => {
    let nth = 1;
    while (await checkKill(point, nth)) nth++;
    assert.ok(nth > 10, `only ${nth - 1} commits`);
  });
}
