import type { DiskSpace } from '../server/server-store.ts';
import type { Database } from './database.ts';
import { toStoreError } from './postgres-errors.ts';

/** How long a statement waits for a lock, before it fails. Others wait behind it. */
const LOCK_TIMEOUT_MS = 5000;

/** The space of the tables of a schema, whose name is quoted. */
export function postgresSpace(database: Database, schema: string): DiskSpace {
  const name = schema.slice(1, -1);
  return {
    measure: async () => {
      const [row] = await database.queries.rows<{ readonly bytes: number }>(
        `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint AS bytes FROM pg_class AS c
         JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'`,
        [name],
      );
      return row?.bytes ?? 0;
    },
    vacuum: async (isFull) => {
      const tables = await database.queries.rows<{ readonly tablename: string }>(
        'SELECT tablename FROM pg_tables WHERE schemaname = $1 ORDER BY tablename',
        [name],
      );
      // Outside the pool, because a large table takes longer than the limit of other statements.
      const client = await database.connection();
      try {
        await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}; SET statement_timeout = 0`);
        for (const { tablename } of tables)
          await client.query(`VACUUM (${isFull ? 'FULL, ' : ''}ANALYZE) ${schema}."${tablename}"`);
      } catch (error) {
        throw toStoreError(error, database.location);
      } finally {
        await client.end().catch(() => undefined);
      }
    },
  };
}
