import { Client } from 'pg';
import type { StoreHarness } from '../../src/store/contract/contract-case.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import type { PostgresStoreOptions } from '../../src/store/postgres/postgres-store-options.ts';
import type { PostgresStore } from '../../src/store/postgres/postgres-store.ts';

/**
 * Opens stores of one schema for a case of the store contract, and deletes their rows when the case is over.
 * @param url the URL of the stores
 * @param options the options of the stores; `listenUrl` if `url` names a pooler
 */
export async function makeHarness(
  url: string,
  schema: string,
  options: PostgresStoreOptions = {},
): Promise<StoreHarness> {
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
      const failpoints = { beforeCommit };
      const store = await openPostgresStore(url, { ...options, schema, busyMs, failpoints });
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
      const client = new Client({ connectionString: options.listenUrl ?? url });
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
