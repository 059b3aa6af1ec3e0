import type { ServerStoreOptions } from '../server/server-store-options.ts';

/** The options of `openStore` for a MySQL or MariaDB URL. */
export interface MysqlStoreOptions extends ServerStoreOptions {
  /** What the names of the tables begin with. `petrichor` names the table `petrichor_sessions`. Default: `petrichor`. */
  readonly schema?: string;
  /**
   * How often to look for changes by other processes while there are any, in milliseconds. After a second without a
   * change, the store looks once a second. Default: 50.
   */
  readonly pollMs?: number;
}
