import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkKill } from '../conformance/check-kill.ts';

for (const story of ['turns', 'outcome'] as const) {
  for (const point of ['before', 'after'] as const) {
    test(`in ${story} a process may be killed ${point} any commit: nothing is lost and nothing comes twice`, async () => {
      let nth = 1;
      while (await checkKill(story, point, nth)) nth++;
      assert.ok(nth > 7, `only ${nth - 1} commits`);
    });
  }
}
