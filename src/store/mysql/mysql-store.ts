import { ServerOwnerRegistry, toOwnerTimes } from '../server/server-owner-registry.ts';
import { ServerStore } from '../server/server-store.ts';
import type { MysqlDatabase } from './database.ts';
import { mysqlSpace } from './disk-space.ts';
import type { MysqlStoreOptions } from './mysql-store-options.ts';
import { mysqlTables } from './mysql-tables.ts';
import { createLockNumber, MysqlOwnerLockDriver } from './owner-lock-driver.ts';
import { ownerLocks } from './owners-sql.ts';
import { tableNames } from './schema.ts';
import type { Reads, Transaction } from './statement.ts';

/** A store in a MySQL or MariaDB database. Open it with `openStore`. */
export class MysqlStore extends ServerStore<Reads, Transaction> {
  /**
   * @param names.prefix what the names of the tables begin with
   * @param names.writer distinguishes the commits of this store object from those of others
   */
  constructor(
    database: MysqlDatabase,
    names: { readonly prefix: string; readonly writer: string },
    options: MysqlStoreOptions,
  ) {
    const tables = tableNames(names.prefix);
    const presence = createLockNumber();
    const locks = ownerLocks(database, names.prefix, presence);
    super({
      database,
      tables: mysqlTables(tables, locks),
      space: mysqlSpace(database, tables),
      name: names.writer,
      newUid: options.newUid,
      createOwners: (onNotice) =>
        new ServerOwnerRegistry(
          new MysqlOwnerLockDriver({
            database,
            tables,
            locks,
            presence,
            pollMs: options.pollMs ?? 50,
            onNotice,
          }),
          {
            ...toOwnerTimes(options),
            location: database.location,
            onReconnected: () => onNotice(undefined),
          },
        ),
    });
  }
}
