import { checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import { parseStoreUrl } from './store-url.ts';
import type { PostgresStoreOptions } from '../postgres/postgres-store.ts';
import type { SqliteStoreOptions } from '../sqlite/sqlite-store.ts';
import type { Store } from '../store.ts';

/** What any of the stores takes; each heeds what is its own. */
export type StoreOptions = SqliteStoreOptions & PostgresStoreOptions;

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
  maxConnections: true,
  connectTimeoutMs: true,
  idleTimeoutMs: true,
  connectionMaxAgeMs: true,
  tls: true,
  onStatement: true,
});

/**
 * Opens the store a URL names: `memory:`, `sqlite:file.db`, `sqlite:///file.db`, `sqlite:////absolute/file.db`, a plain path,
 * or `postgres://user:password@host/database`, which needs the package `pg`.
 * @throws UnsupportedStoreUrlError, and what the store's own opening throws.
 */
export async function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
  checkOptions(STORE_OPTIONS, options);
  const parsed = parseStoreUrl(url);
  if (parsed.kind === 'memory') return new MemoryStore(options);
  if (parsed.kind === 'sqlite') {
    // Who keeps sessions in memory does not load SQLite.
    const { openSqliteStore } = await import('../sqlite/sqlite-store.ts');
    return openSqliteStore(parsed.file, options);
  }
  const { openPostgresStore } = await import('../postgres/postgres-store.ts');
  return openPostgresStore(parsed.url, options);
}
