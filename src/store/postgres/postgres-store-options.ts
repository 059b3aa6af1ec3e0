import type { ServerStoreOptions } from '../server/server-store-options.ts';

/** The options of `openStore` for a PostgreSQL URL. */
export interface PostgresStoreOptions extends ServerStoreOptions {
  /** The schema of the tables. It is created if it does not exist. Default: `petrichor`. */
  readonly schema?: string;
  /**
   * The URL of the PostgreSQL server itself, if `url` names a pooler that gives a connection to another client after each
   * transaction, such as PgBouncer in transaction mode. The store opens one connection to it, for locks and
   * notifications. Through the pooler it uses no prepared statements and no settings of a connection. Default: `url`.
   */
  readonly listenUrl?: string;
}
