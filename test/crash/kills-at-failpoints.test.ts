import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pickSample } from '../sample-seed.ts';
import { killAtFailpoints } from './kills-at-failpoints.ts';

// test/long/crash.test.ts kills at every failpoint.
test('SIGKILL at a failpoint of a turn, followed by another at a failpoint of the recovery, does not change the turn', async (t) => {
  const { faults, ...figures } = await killAtFailpoints({
    every: 8,
    first: 1 + pickSample(8, 'failpoint'),
  });
  t.diagnostic(JSON.stringify(figures));
  assert.deepEqual(faults, []);
  assert.ok((figures.kills['tool-did in a turn'] ?? 0) >= 2);
  assert.ok((figures.kills['after-commit in a turn'] ?? 0) >= 1);
});
