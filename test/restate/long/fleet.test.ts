import { test } from 'node:test';
import { assertHard, runLongFleet } from '../../fleet/run-long-fleet.ts';
import { RestateServer } from '../restate-server.ts';

test('four servers behind Restate lose and repeat nothing under faults of nodes, machines, connections, database and Restate', async (t) => {
  await using restate = await RestateServer.start();
  if (restate === undefined) return t.skip('no Restate server for this platform');
  const report = await runLongFleet((line) => console.error(line), {
    restate,
    faults: ['restate', 'lose'],
  });
  if (report === undefined) return t.skip('no PostgreSQL for this platform');
  t.diagnostic(JSON.stringify(report));
  assertHard(report);
});
