import type { Failpoints } from '../failpoints.ts';

/** The options of `openStore` for a database on a server. */
export interface ServerStoreOptions {
  /** Largest number of connections in the pool. The store uses one more for the locks of owners. Default: 10. */
  readonly maxConnections?: number;
  /** Timeout of opening a connection, in milliseconds. Default: 10,000. */
  readonly connectTimeoutMs?: number;
  /** How long an idle connection is kept, in milliseconds. Default: 30,000. */
  readonly idleTimeoutMs?: number;
  /** Connections older than this are replaced, in milliseconds. Default: no limit. */
  readonly connectionMaxAgeMs?: number;
  /** TLS options, as in `ssl` of `pg` or `mysql2`. Default: the setting in the URL. */
  readonly tls?: boolean | object;
  /** How long a call waits for another writer before it fails as busy, in milliseconds. Default: 5000. */
  readonly busyMs?: number;
  /**
   * How long an owner must be without its lock until its sessions can be claimed, in milliseconds. It must be longer
   * than a reconnect takes. Default: 5000.
   */
  readonly absenceMs?: number;
  /**
   * The same after the server restarted or this process reconnected, when all owners reconnect at once, in
   * milliseconds. Default: 30,000.
   */
  readonly restartAbsenceMs?: number;
  /**
   * How often the connection that holds the owner locks is tested, and how long an answer may take, in milliseconds.
   * Default: 5000.
   */
  readonly checkMs?: number;
  /** Milliseconds of a monotonic clock. Default: `performance.now`. */
  readonly now?: () => number;
  /** Called with the text of every statement. */
  readonly onStatement?: (text: string) => void;
  /** Creates the uid of a new session. Default: random. */
  readonly newUid?: () => string;
  /** Waits between two attempts. Default: a timer, which keeps the process alive as a statement does. */
  readonly sleep?: (ms: number) => Promise<void>;
  /** Makes the store fail, in tests. */
  readonly failpoints?: Failpoints;
}
