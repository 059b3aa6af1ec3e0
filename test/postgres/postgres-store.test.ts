import { after, before, describe, test } from 'node:test';
import { Client } from 'pg';
import type { StoreHarness } from '../../src/store/contract/contract-case.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import type { PostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { storeContract } from '../../src/store/contract/store-contract.ts';
import { startPostgresServer } from './postgres-server.ts';
import type { PostgresServer } from './postgres-server.ts';

describe('PostgresStore', () => {
  let server: PostgresServer | undefined;
  // To create the tables takes most of a case, so the next case uses those of the last, without their rows.
  const freeSchemas: string[] = [];
  let schemas = 0;

  before(async () => {
    server = await startPostgresServer();
  });

  after(async () => {
    await server?.stop();
  });

  for (const { name, check } of storeContract) {
    test(name, async (t) => {
      if (server === undefined) return t.skip('no PostgreSQL for this platform');
      const { url } = server;
      await check(async () => {
        const schema = freeSchemas.pop() ?? `contract_${process.pid}_${schemas++}`;
        const harness = await makeHarness(url, schema);
        return {
          ...harness,
          close: async () => {
            await harness.close();
            freeSchemas.push(schema);
          },
        };
      });
    });
  }
});

async function makeHarness(url: string, schema: string): Promise<StoreHarness> {
  const stores: PostgresStore[] = [];
  let isFull = false;
  const beforeCommit = (): void => {
    // The error of a server without disk space.
    if (isFull) throw Object.assign(new Error('No space left on device'), { code: '53100' });
  };
  return {
    open: async () => {
      // A case with many clients at one row must not end early because the machine is busy.
      const busyMs = 60_000;
      const store = await openPostgresStore(url, { schema, busyMs, failpoints: { beforeCommit } });
      stores.push(store);
      return store;
    },
    fill: () => {
      isFull = true;
      return () => {
        isFull = false;
      };
    },
    close: async () => {
      await Promise.all(stores.map((store) => store.close()));
      const client = new Client({ connectionString: url });
      await client.connect();
      await deleteRows(client, schema);
      await client.end();
    },
  };
}

/** Deletes all rows, and keeps the tables and their version. */
async function deleteRows(client: Client, schema: string): Promise<void> {
  const { rows } = await client.query<{ tablename: string }>(
    `SELECT tablename FROM pg_tables WHERE schemaname = $1 AND tablename <> 'petrichor_schema'`,
    [schema],
  );
  const sessionsLast = rows.toSorted(
    (a, b) => Number(a.tablename === 'sessions') - Number(b.tablename === 'sessions'),
  );
  const tables = sessionsLast.map(({ tablename }) => `${schema}.${tablename}`);
  await client.query(tables.map((table) => `DELETE FROM ${table}`).join('; '));
}
