import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killServer } from './kill-server.ts';

test('a killed server continues its sessions after a restart: every event once, in order, and no finished tool runs again', async (t) => {
  const report = await killServer({ sessions: 5, messages: 2, kills: 1 });
  t.diagnostic(JSON.stringify(report));
  assert.equal(report.kills, 1);
  assert.ok(report.finishedBeforeKills > 0);
  assert.ok(report.toolRuns >= 5 * 2 * 3);
});
