import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killLiveAtRandom } from '../server/live/random-live-kills.ts';

test('SIGKILLs at random moments of a spoken conversation lose nothing and repeat nothing', async (t) => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  const { faults, ...figures } = await killLiveAtRandom(Number(process.env['KILLS'] ?? 100), seed);
  t.diagnostic(`seed ${seed}: ${JSON.stringify(figures)}`);
  assert.deepEqual(faults, []);
});
