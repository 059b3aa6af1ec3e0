import { checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import { parseStoreUrl } from './store-url.ts';
import type { PostgresStoreOptions } from '../postgres/postgres-store-options.ts';
import type { MysqlStoreOptions } from '../mysql/mysql-store-options.ts';
import type { SqliteStoreOptions } from '../sqlite/sqlite-store-options.ts';
import type { Store } from '../store.ts';

/** The options of all stores. Each store ignores the options of the others. */
export type StoreOptions = SqliteStoreOptions & PostgresStoreOptions & MysqlStoreOptions;

/** The options of every store. */
export const STORE_OPTIONS: OptionTable = optionTable<StoreOptions>('openStore', {
  absenceMs: true,
  restartAbsenceMs: true,
  checkMs: true,
  now: true,
  busyMs: true,
  pollMs: true,
  newUid: true,
  sleep: true,
  failpoints: true,
  schema: true,
  listenUrl: true,
  maxConnections: true,
  connectTimeoutMs: true,
  idleTimeoutMs: true,
  connectionMaxAgeMs: true,
  tls: true,
  onStatement: true,
});

/**
 * Opens a store by its URL: `memory:`, `sqlite:file.db`, `sqlite:///file.db`, `sqlite:////absolute/file.db`, a plain
 * path of a SQLite file, `postgres://user:password@host/database`, which needs the package `pg`, or
 * `mysql://user:password@host/database` for MySQL and MariaDB, which needs the package `mysql2`.
 * @throws UnsupportedStoreUrlError for an unknown form of URL
 * @throws every error of opening the store
 */
export async function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
  checkOptions(STORE_OPTIONS, options);
  const parsed = parseStoreUrl(url);
  if (parsed.kind === 'memory') return new MemoryStore(options);
  if (parsed.kind === 'sqlite') {
    // Loaded on demand: a program with a memory store does not load SQLite.
    const { openSqliteStore } = await import('../sqlite/open-sqlite-store.ts');
    return openSqliteStore(parsed.file, options);
  }
  if (parsed.kind === 'mysql') {
    const { openMysqlStore } = await import('../mysql/open-mysql-store.ts');
    return openMysqlStore(parsed.url, options);
  }
  const { openPostgresStore } = await import('../postgres/open-postgres-store.ts');
  return openPostgresStore(parsed.url, options);
}
