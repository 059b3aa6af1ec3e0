import type { Client } from 'pg';
import { InvalidInputError } from '../../core/index.ts';
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
        await assertMayVacuum(client, name, database.location);
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

/**
 * VACUUM skips the tables of other owners, and does not fail.
 * @throws InvalidInputError if it would skip tables of the store
 */
async function assertMayVacuum(client: Client, schema: string, location: string): Promise<void> {
  const { rows } = await client.query<{ readonly user: string }>(
    `SELECT current_user AS user FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relname = 'sessions' AND c.relkind = 'r' AND NOT pg_has_role(c.relowner, 'USAGE')
     AND NOT (SELECT pg_has_role(d.datdba, 'USAGE') FROM pg_database AS d WHERE d.datname = current_database())
     AND NOT CASE WHEN current_setting('server_version_num')::int >= 170000
       THEN has_table_privilege(c.oid, 'MAINTAIN') ELSE false END`,
    [schema],
  );
  const [skipped] = rows;
  if (skipped === undefined) return;
  throw new InvalidInputError(
    'store',
    `cannot be vacuumed: the user "${skipped.user}" does not own the tables of ${location}. Use the user that owns them.`,
  );
}
