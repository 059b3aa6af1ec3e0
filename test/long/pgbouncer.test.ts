import { after, before, describe, it } from 'node:test';
import { storeContract } from '../../src/store/contract/store-contract.ts';
import { startPgBouncer } from '../postgres/pgbouncer.ts';
import type { PgBouncer } from '../postgres/pgbouncer.ts';
import { startPostgresServer } from '../postgres/postgres-server.ts';
import type { PostgresServer } from '../postgres/postgres-server.ts';
import { makeHarness } from '../postgres/store-harness.ts';

describe('the whole store contract behind PgBouncer in transaction mode', () => {
  let server: PostgresServer | undefined;
  let pooler: PgBouncer | undefined;

  before(async () => {
    server = await startPostgresServer();
    pooler = server && (await startPgBouncer(server.url));
  });

  after(async () => {
    await pooler?.stop();
    await server?.stop();
  });

  for (const [index, { name, check }] of storeContract.entries())
    it(name, async (t) => {
      if (server === undefined) return t.skip('no PostgreSQL for this platform');
      if (pooler === undefined) return t.skip('PgBouncer is not installed');
      const { url: listenUrl } = server;
      const { url } = pooler;
      // A case may open two stores.
      let stores = 0;
      await check(async () =>
        makeHarness(url, `pooled_all_${process.pid}_${index}_${stores++}`, { listenUrl }),
      );
    });
});
