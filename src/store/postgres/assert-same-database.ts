import { InvalidInputError } from '../../core/index.ts';
import type { Database } from './database.ts';
import { toStoreError } from './postgres-errors.ts';

/** The first key of the lock: distinguishes it from other locks of this program. */
const LOCK_CLASS = 0x70_65_74_72;

/**
 * Checks that the pooler and `listenUrl` lead to the same database. Otherwise the locks of this process would be
 * invisible to the other ones, which would take its sessions.
 * @throws InvalidInputError
 */
export async function assertSameDatabase(database: Database): Promise<void> {
  const connection = await database.connection();
  try {
    const lock = Math.floor(Math.random() * 0x7f_ff_ff_ff);
    await connection.query('SELECT pg_advisory_lock($1, $2)', [LOCK_CLASS, lock]);
    const seen = await database.rows(
      `SELECT 1 FROM pg_locks AS l
       WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2 AND l.classid::bigint = $1 AND l.objid::bigint = $2
         AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())`,
      [LOCK_CLASS, lock],
    );
    if (seen.length > 0) return;
  } catch (error) {
    throw toStoreError(error, database.location);
  } finally {
    await connection.end().catch(() => undefined);
  }
  throw new InvalidInputError(
    'listenUrl',
    'names another database than the URL of the store. Pass the URL of the server to which the pooler connects, with the same database.',
  );
}
