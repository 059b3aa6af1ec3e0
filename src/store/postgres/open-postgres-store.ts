import { setTimeout } from 'node:timers/promises';
import { newSessionUid } from '../../core/index.ts';
import { toNoticePayloads } from '../server/change-notices.ts';
import { assertSameDatabase } from './assert-same-database.ts';
import { Database } from './database.ts';
import { migrate } from './migrate.ts';
import type { PostgresStoreOptions } from './postgres-store-options.ts';
import { PostgresStore } from './postgres-store.ts';
import { quotedSchema } from './schema.ts';

/**
 * Opens a store in a PostgreSQL database, version 13 or later, and creates its tables if they do not exist. Any
 * number of processes on any number of machines can open the same store. The durability of acknowledged writes
 * depends on the settings of the server (`fsync`, `synchronous_commit`). Through a pooler in transaction mode, the option
 * `listenUrl` is needed, because the store holds session locks on one connection.
 * @throws MissingPostgresPackageError, StoreUnavailableError, ForeignDatabaseError, StoreVersionError,
 * InvalidInputError
 */
export async function openPostgresStore(
  url: string,
  options: PostgresStoreOptions = {},
): Promise<PostgresStore> {
  const schema = options.schema ?? 'petrichor';
  quotedSchema(schema);
  const names = { schema, channel: `petrichor.${schema}`, writer: newSessionUid() };
  const database = await Database.load({
    url,
    listenUrl: options.listenUrl,
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
    toNotification: (changed) => [
      'SELECT pg_notify($1, payload), pg_current_xact_id()::text AS xid FROM unnest($2::text[]) AS payload',
      [names.channel, toNoticePayloads(names.writer, changed)],
    ],
  });
  const store = new PostgresStore(database, names, options);
  try {
    if (options.listenUrl !== undefined) await assertSameDatabase(database);
    await migrate(database, schema);
    await store.listen();
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}
