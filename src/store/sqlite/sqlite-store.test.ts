import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { StoreHarness } from '../contract/contract-case.ts';
import { openSqliteStore } from './open-sqlite-store.ts';
import type { SqliteStore } from './sqlite-store.ts';
import { storeContract } from '../contract/store-contract.ts';

for (const { name, check } of storeContract) {
  test(`SqliteStore: ${name}`, () => check(makeHarness));
}

async function makeHarness(): Promise<StoreHarness> {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-store-'));
  const stores: SqliteStore[] = [];
  const databases: DatabaseSync[] = [];
  const opened = (database: DatabaseSync): void => void databases.push(database);
  return {
    open: async () => {
      const store = await openSqliteStore(join(folder, 'store.db'), { failpoints: { opened } });
      stores.push(store);
      return store;
    },
    fill: () => {
      // Limits the database to its current pages, so that the next page fails like a full disk.
      for (const database of databases) database.exec('PRAGMA max_page_count = 1');
      return () => {
        for (const database of databases) database.exec('PRAGMA max_page_count = 1073741823');
      };
    },
    close: async () => {
      await Promise.all(stores.map((store) => store.close()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
