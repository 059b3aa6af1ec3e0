import type { DatabaseSync } from 'node:sqlite';
import type { Failpoints } from '../failpoints.ts';

/** The options of `openSqliteStore`. */
export interface SqliteStoreOptions {
  /** How long a call waits for the lock of another process before it fails as busy, in milliseconds. Default: 5000. */
  readonly busyMs?: number;
  /** How often to check for changes by other processes while there are listeners, in milliseconds. Default: 20. */
  readonly pollMs?: number;
  /** Creates the uid of a new session. Default: random. */
  readonly newUid?: () => string;
  /** Waits between two attempts on a busy file. Default: a timer. */
  readonly sleep?: (ms: number) => Promise<void>;
  /** Makes the store fail, in tests. */
  readonly failpoints?: SqliteFailpoints;
}

/** Hooks with which a test can make a SQLite store fail, or use its connection. */
export interface SqliteFailpoints extends Failpoints {
  /** Called with the configured connection, for example to limit the size of the database. */
  readonly opened?: (database: DatabaseSync) => void;
}
