import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPostgresServer } from '../postgres/postgres-server.ts';
import { pickSample } from '../sample-seed.ts';
import { runFleet, type FleetFault } from '../server/run-fleet.ts';

const FAULTS: readonly FleetFault[] = ['kill', 'drain', 'pause', 'kill'];

test('four servers on one database lose and repeat nothing while servers are killed, drained and paused', async (t) => {
  const server = await startPostgresServer();
  if (server === undefined) return t.skip('no PostgreSQL for this platform');
  try {
    const report = await runFleet({
      store: server.url,
      nodes: 4,
      sessions: 200,
      faults: Array.from({ length: 40 }, (_, n) => [
        FAULTS[pickSample(FAULTS.length, `fault ${n}`)] ?? 'kill',
        pickSample(4, `node ${n}`),
      ]),
    });
    t.diagnostic(JSON.stringify(report));
    assert.ok(report.finishedBeforeFaults > 1000);
  } finally {
    await server.stop();
  }
});
