import { setTimeout } from 'node:timers/promises';
import { newSessionUid } from '../../core/index.ts';
import { MysqlDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import type { MysqlStoreOptions } from './mysql-store-options.ts';
import { MysqlStore } from './mysql-store.ts';
import { tableNames } from './schema.ts';

/**
 * Opens a store in a database of MySQL 8.0 or MariaDB 10.6 or later, and creates its tables if they do not exist. Any
 * number of processes on any number of machines can open the same store; all of them use the same primary server. The
 * durability of acknowledged writes depends on the settings of the server (`innodb_flush_log_at_trx_commit`). Connect to
 * the server directly, not through a proxy that shares connections, because the store uses locks of connections.
 * @throws MissingMysqlPackageError, StoreUnavailableError, ForeignDatabaseError, StoreVersionError,
 * UnsupportedStoreUrlError, InvalidInputError
 */
export async function openMysqlStore(
  url: string,
  options: MysqlStoreOptions = {},
): Promise<MysqlStore> {
  const prefix = options.schema ?? 'petrichor';
  const writer = newSessionUid();
  const database = await MysqlDatabase.load({
    url,
    tables: tableNames(prefix),
    writer,
    maxConnections: options.maxConnections ?? 10,
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    idleTimeoutMs: options.idleTimeoutMs ?? 30_000,
    connectionMaxAgeMs: options.connectionMaxAgeMs ?? 0,
    tls: options.tls,
    busyMs: options.busyMs ?? 5000,
    sleep: options.sleep ?? (async (ms) => setTimeout(ms)),
    now: options.now ?? (() => performance.now()),
    failpoints: options.failpoints ?? {},
    onStatement: options.onStatement,
  });
  const store = new MysqlStore(database, { prefix, writer }, options);
  try {
    await migrate(database, prefix);
    await store.listen();
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}
