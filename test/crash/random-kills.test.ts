import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killAtRandom } from './random-kills.ts';

test('SIGKILL at random moments loses no message and repeats no finished effect', async (t) => {
  const seed = Date.now() % 1_000_000;
  const { faults, ...figures } = await killAtRandom(10, seed);
  t.diagnostic(`seed ${seed}: ${JSON.stringify(figures)}`);
  assert.deepEqual(faults, []);
  assert.ok(figures.turns > 0);
});
