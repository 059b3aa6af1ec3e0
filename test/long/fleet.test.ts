import { test } from 'node:test';
import { openEarlierRelease } from '../fleet/earlier-release.ts';
import { assertHard, runLongFleet } from '../fleet/run-long-fleet.ts';

test('four servers on one database lose and repeat nothing under faults of nodes, connections and database', async (t) => {
  const report = await runLongFleet((line) => console.error(line));
  if (report === undefined) return t.skip('no PostgreSQL for this platform');
  t.diagnostic(JSON.stringify(report));
  assertHard(report);
});

test('servers of an earlier release and of this one share a database under the same faults', async (t) => {
  const earlier = await openEarlierRelease();
  if (earlier === undefined) return t.skip('no history of the repository');
  await using disposed = new AsyncDisposableStack();
  disposed.defer(() => earlier.remove());
  t.diagnostic(`The earlier release is ${earlier.commit}.`);
  const report = await runLongFleet((line) => console.error(line), { earlier });
  if (report === undefined) return t.skip('no PostgreSQL for this platform');
  t.diagnostic(JSON.stringify(report));
  assertHard(report);
});
