import { Connection } from './database/connection.ts';
import { openDatabase } from './database/open-database.ts';
import { sleep } from './database/retry-busy.ts';
import { MIGRATIONS } from './database/schema.ts';
import type { SqliteStoreOptions } from './sqlite-store-options.ts';
import { SqliteStore } from './sqlite-store.ts';

/**
 * Opens a store in a SQLite file, and creates the file if it does not exist. Any number of processes on one machine can
 * open the same file. Acknowledged writes are on the disk.
 * @throws StoreCorruptError, ForeignDatabaseError, StoreVersionError, StoreUnavailableError
 */
export async function openSqliteStore(
  file: string,
  options: SqliteStoreOptions = {},
): Promise<SqliteStore> {
  const policy = { busyMs: options.busyMs ?? 5000, sleep: options.sleep ?? sleep };
  const opened = await openDatabase(file, MIGRATIONS, policy);
  options.failpoints?.opened?.(opened.database);
  return new SqliteStore(new Connection(opened.file, opened.database), policy, options);
}
