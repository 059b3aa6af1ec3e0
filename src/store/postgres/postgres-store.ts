import { ServerOwnerRegistry, toOwnerTimes } from '../server/server-owner-registry.ts';
import { ServerStore } from '../server/server-store.ts';
import type { Database } from './database.ts';
import type { Queries, WriteQueries } from './queries.ts';
import { postgresSpace } from './disk-space.ts';
import { PostgresOwnerLockDriver } from './owner-lock-driver.ts';
import type { PostgresStoreOptions } from './postgres-store-options.ts';
import { postgresTables } from './postgres-tables.ts';
import { quotedSchema } from './schema.ts';

/** The names by which the processes of a schema know each other. */
export interface PostgresNames {
  readonly schema: string;
  /** The channel of the notifications. */
  readonly channel: string;
  /** Distinguishes the notifications of this store object from those of others. */
  readonly writer: string;
}

/** A store in a PostgreSQL database. Open it with `openStore`. */
export class PostgresStore extends ServerStore<Queries, WriteQueries> {
  constructor(database: Database, names: PostgresNames, options: PostgresStoreOptions) {
    const schema = quotedSchema(names.schema);
    super({
      database,
      tables: postgresTables(schema),
      space: postgresSpace(database, schema),
      name: names.writer,
      newUid: options.newUid,
      createOwners: (onNotice) =>
        new ServerOwnerRegistry(
          new PostgresOwnerLockDriver({ database, schema, channel: names.channel, onNotice }),
          {
            ...toOwnerTimes(options),
            location: database.location,
            onReconnected: () => onNotice(undefined),
          },
        ),
    });
  }
}
