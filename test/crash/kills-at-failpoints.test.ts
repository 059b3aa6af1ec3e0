import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killAtFailpoints } from './kills-at-failpoints.ts';

test('a process killed around a commit or in a tool, and its successor killed again, do not change the turn', async (t) => {
  const { faults, ...figures } = await killAtFailpoints({ every: 5, first: 2 });
  t.diagnostic(JSON.stringify(figures));
  assert.deepEqual(faults, []);
  assert.ok((figures.kills['tool-did in a turn'] ?? 0) >= 2);
  assert.ok((figures.kills['after-commit in a turn'] ?? 0) >= 2);
});
