import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomFrom } from '../crash/random-kills.ts';
import { runFleet } from '../fleet/run-fleet.ts';
import { startPostgresServer } from '../postgres/postgres-server.ts';
import { sampleSeed } from '../sample-seed.ts';
import { RestateServer } from './restate-server.ts';

test('three servers behind Restate lose and repeat nothing while one is killed, one drained, one lost, and Restate killed', async (t) => {
  await using restate = await RestateServer.start();
  if (restate === undefined) return t.skip('no Restate server for this platform');
  const server = await startPostgresServer();
  if (server === undefined) return t.skip('no PostgreSQL for this platform');
  try {
    const report = await runFleet({
      server,
      restate,
      nodes: 3,
      sessions: 6,
      faults: ['kill', 'restate', 'drain', 'lose', 'pause', 'kill'],
      untilNextFault: async (countRuns) => {
        const enough = countRuns() + 8;
        while (countRuns() < enough) await sleep(20);
      },
      random: randomFrom(sampleSeed),
      pauseMs: () => 500,
      onProgress: (line) => t.diagnostic(line),
    });
    t.diagnostic(JSON.stringify(report));
    assert.ok(report.calls >= 6 * 8);
  } finally {
    await server.stop();
  }
});
