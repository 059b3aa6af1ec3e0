import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkKill } from '../conformance/check-kill.ts';

for (const scenario of ['turns', 'outcome'] as const) {
  for (const point of ['before', 'after'] as const) {
    test(`in ${scenario} a process that is killed ${point} any commit loses no event and repeats none`, async () => {
      let nth = 1;
      while (await checkKill(scenario, point, nth)) nth++;
      assert.ok(nth > 7, `only ${nth - 1} commits`);
    });
  }
}
