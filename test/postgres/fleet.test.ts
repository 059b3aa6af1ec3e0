import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runFleet } from '../fleet/run-fleet.ts';
import { randomFrom } from '../crash/random-kills.ts';
import { sampleSeed } from '../sample-seed.ts';
import { startPostgresServer } from './postgres-server.ts';

test('two servers on one database lose and repeat nothing while one is killed, one drained and one paused', async (t) => {
  const server = await startPostgresServer();
  if (server === undefined) return t.skip('no PostgreSQL for this platform');
  try {
    const report = await runFleet({
      server,
      nodes: 2,
      sessions: 4,
      // No cut: after one, a dead owner is waited for as long as after a restart of the database.
      faults: ['pause', 'drain', 'kill'],
      untilNextFault: async (countRuns) => {
        const enough = countRuns() + 8;
        while (countRuns() < enough) await sleep(20);
      },
      random: randomFrom(sampleSeed),
      pauseMs: () => 500,
    });
    t.diagnostic(JSON.stringify(report));
    assert.ok(report.calls >= 4 * 8);
  } finally {
    await server.stop();
  }
});
