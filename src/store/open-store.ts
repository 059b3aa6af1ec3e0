import { MemoryStore } from './memory-store.ts';
import { parseStoreUrl } from './store-url.ts';
import { UnsupportedStoreUrlError } from './store-errors.ts';
import type { Store } from './store.ts';
import type { SqliteStoreOptions } from './sqlite-store.ts';

/**
 * Opens the store a URL names: `memory:`, `sqlite:file.db`, `sqlite:///file.db`, `sqlite:////absolute/file.db`, or a plain path.
 * @throws UnsupportedStoreUrlError, and what the store's own opening throws.
 */
export async function openStore(url: string, options: SqliteStoreOptions = {}): Promise<Store> {
  const parsed = parseStoreUrl(url);
  if (parsed.kind === 'memory') return new MemoryStore(options);
  if (parsed.kind === 'sqlite') {
    // Who keeps sessions in memory does not load SQLite.
    const { openSqliteStore } = await import('./sqlite-store.ts');
    return openSqliteStore(parsed.file, options);
  }
  throw new UnsupportedStoreUrlError(
    'PostgreSQL stores are not part of this version: use a SQLite file.',
  );
}
