import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimulatedClock } from '../../net/index.ts';
import { RestartLimit } from './restart-limit.ts';

test('workers are started again later and later, and ten times in a minute at most', () => {
  const clock = new SimulatedClock();
  const limit = new RestartLimit(clock);
  const delays = Array.from({ length: 10 }, () => limit.next());
  assert.deepEqual(
    delays,
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => n * 1000),
  );
  assert.equal(limit.next(), undefined);
  clock.advance(60_000);
  assert.equal(limit.next(), 0);
});
