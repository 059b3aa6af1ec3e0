import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pickSample } from '../sample-seed.ts';
import { runFleet } from '../server/run-fleet.ts';
import { startPostgresServer } from './postgres-server.ts';

test('two servers on one database lose and repeat nothing while one is killed, one drained and one paused', async (t) => {
  const server = await startPostgresServer();
  if (server === undefined) return t.skip('no PostgreSQL for this platform');
  try {
    const node = (name: string): number => pickSample(2, `fleet ${name}`);
    const report = await runFleet({
      store: server.url,
      nodes: 2,
      sessions: 4,
      faults: [
        ['pause', node('pause')],
        ['drain', node('drain')],
        ['kill', node('kill')],
      ],
    });
    t.diagnostic(JSON.stringify(report));
    assert.ok(report.toolRuns >= 4 * 3 * 3);
    assert.ok(report.finishedBeforeFaults > 0);
  } finally {
    await server.stop();
  }
});
