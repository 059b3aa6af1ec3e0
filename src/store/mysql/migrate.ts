import { createHash } from 'node:crypto';
import { ForeignDatabaseError, StoreUnavailableError, StoreVersionError } from '../store-errors.ts';
import type { MysqlDatabase } from './database.ts';
import { toStoreError } from './mysql-errors.ts';
import { listMigrations, SCHEMA_VERSION, tableNames } from './schema.ts';

/** How long a process waits for another one that migrates. */
const LOCK_TIMEOUT_S = 60;

/**
 * Creates or migrates the tables with a prefix. Several processes may do so at the same time.
 * @throws ForeignDatabaseError, StoreVersionError
 */
export async function migrate(database: MysqlDatabase, prefix: string): Promise<void> {
  const location = `${database.location}, tables ${prefix}_*,`;
  const t = tableNames(prefix);
  if ((await readVersion(database, prefix)) === SCHEMA_VERSION) return;
  const { connection, end } = await database.connection();
  try {
    const lock = serverLockName(database.name, prefix, 'schema');
    const [[locked]] = await connection.query<never[]>({
      sql: `SELECT GET_LOCK(?, ${LOCK_TIMEOUT_S}) AS ok`,
      values: [lock],
    });
    if ((locked as { ok: number } | undefined)?.ok !== 1)
      throw new StoreUnavailableError('busy', database.location);
    const version = await readVersion(database, prefix);
    if (version > SCHEMA_VERSION) throw new StoreVersionError(location, version, SCHEMA_VERSION);
    if (version === 0) await assertOwnTables(database, prefix, location);
    await connection.query(`CREATE TABLE IF NOT EXISTS ${t('schema')} (version INT NOT NULL)`);
    for (const statement of listMigrations(t).slice(version).flat())
      await connection.query(statement);
    await connection.query(
      `DELETE FROM ${t('schema')}; INSERT INTO ${t('schema')} VALUES (${SCHEMA_VERSION})`,
    );
  } catch (error) {
    throw toStoreError(error, database.location);
  } finally {
    await end();
  }
}

/**
 * The name of a lock of the server. Locks belong to the whole server, and have names of at most 64 characters.
 * @param database its name, because processes may reach the server by several addresses
 */
export function serverLockName(database: string, prefix: string, name: string | number): string {
  const place = createHash('sha256').update(`${database}/${prefix}`).digest('hex').slice(0, 24);
  return `petrichor.${place}.${name}`;
}

/** Reads the schema version; 0 when the tables are not complete. */
async function readVersion(database: MysqlDatabase, prefix: string): Promise<number> {
  const tables = await database.queries.rows(
    'SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?',
    [`${prefix}_schema`],
  );
  if (tables.length === 0) return 0;
  const [row] = await database.queries.rows<{ version: number }>(
    `SELECT version FROM ${tableNames(prefix)('schema')}`,
  );
  return row?.version ?? 0;
}

/** @throws ForeignDatabaseError when tables with this prefix belong to another program */
async function assertOwnTables(
  database: MysqlDatabase,
  prefix: string,
  location: string,
): Promise<void> {
  const tables = await database.queries.rows<{ name: string }>(
    'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() AND LEFT(table_name, ?) = ?',
    [prefix.length + 1, `${prefix}_`],
  );
  const isBegun = tables.some(({ name }) => name === `${prefix}_schema`);
  if (tables.length > 0 && !isBegun) throw new ForeignDatabaseError(location, 'schema');
}
