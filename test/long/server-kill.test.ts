import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killServer } from '../server/kill-server.ts';

test('a server that is killed five times continues 50 sessions with tools', async (t) => {
  const report = await killServer({ sessions: 50, messages: 4, kills: 5 });
  t.diagnostic(JSON.stringify(report));
  assert.ok(report.finishedBeforeKills > 100);
});
