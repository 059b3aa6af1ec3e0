import { setTimeout } from 'node:timers/promises';
import { ForeignDatabaseError, StoreVersionError } from '../store-errors.ts';
import type { Database } from './database.ts';
import type { Queries } from './queries.ts';
import { toStoreError } from './postgres-errors.ts';
import { listMigrations, listOnlineIndexes, quotedSchema, SCHEMA_VERSION } from './schema.ts';

const LOCK_RETRY_MS = 50;

/** The version of stored tables, and the earliest version whose code works with them. 0: there are no tables. */
interface StoredVersion {
  readonly version: number;
  readonly compatibleFrom: number;
}

/**
 * Creates or migrates the tables of a schema. Several processes may do so at the same time. Tables of a later version are
 * used as they are if they say that this version works with them, so that a server of this release can start again
 * while a later one is introduced.
 * @throws ForeignDatabaseError, StoreVersionError
 */
export async function migrate(database: Database, schema: string): Promise<void> {
  const s = quotedSchema(schema);
  const location = `${database.location}, schema ${schema},`;
  const stored = await readVersion(database, schema);
  if (stored.version === SCHEMA_VERSION || isLaterAndCompatible(stored)) return;
  if (stored.version > 0 && stored.version < SCHEMA_VERSION)
    await buildIndexesOnline(database, schema, stored.version);
  await database.write(async (queries) => {
    await queries.rows(`SELECT pg_advisory_xact_lock(hashtext('petrichor.schema'), hashtext($1))`, [
      schema,
    ]);
    const present = await readVersion(queries, schema);
    if (isLaterAndCompatible(present)) return;
    const { version } = present;
    if (version > SCHEMA_VERSION) throw new StoreVersionError(location, version, SCHEMA_VERSION);
    if (version === 0) await createSchema(queries, schema, location);
    for (const migration of listMigrations(s).slice(version)) await queries.exec(migration);
    await queries.exec(`UPDATE ${s}.petrichor_schema SET version = ${SCHEMA_VERSION}`);
  });
}

/**
 * Builds the indexes of later versions while other processes read and write. Processes that migrate at the same time
 * wait for each other. An index that an earlier migration left unfinished is built again.
 */
async function buildIndexesOnline(
  database: Database,
  schema: string,
  stored: number,
): Promise<void> {
  const s = quotedSchema(schema);
  // A build cannot be part of a transaction.
  const connection = await database.connection();
  try {
    // Asks again instead of waiting in the statement: the build of an index waits for all statements that have begun.
    for (;;) {
      const { rows } = await connection.query<{ locked: boolean }>(
        `SELECT pg_try_advisory_lock(hashtext('petrichor.indexes'), hashtext($1)) AS locked`,
        [schema],
      );
      if (rows[0]?.locked === true) break;
      await setTimeout(LOCK_RETRY_MS);
    }
    for (const { version, name, definition } of listOnlineIndexes(s)) {
      if (version <= stored) continue;
      const { rows } = await connection.query<{ valid: boolean }>(
        `SELECT i.indisvalid AS valid FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
         JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2`,
        [schema, name],
      );
      if (rows[0]?.valid === true) continue;
      if (rows.length > 0) await connection.query(`DROP INDEX CONCURRENTLY ${s}.${name}`);
      await connection.query(`CREATE INDEX CONCURRENTLY ${name} ON ${definition}`);
    }
  } catch (error) {
    throw toStoreError(error, database.location);
  } finally {
    await connection.end().catch(() => undefined);
  }
}

function isLaterAndCompatible({ version, compatibleFrom }: StoredVersion): boolean {
  return version > SCHEMA_VERSION && compatibleFrom <= SCHEMA_VERSION;
}

/**
 * Reads the schema version; 0 when there are no tables. Looks for the table in the catalog, because a connection caches
 * the result of earlier name lookups. The column `compatible_from` exists only where a later release added it.
 */
async function readVersion(queries: Queries, schema: string): Promise<StoredVersion> {
  const s = quotedSchema(schema);
  const tables = await queries.rows(
    `SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'petrichor_schema'`,
    [schema],
  );
  const [row] =
    tables.length === 0
      ? []
      : await queries.rows<StoredVersion>(
          `SELECT v.version, coalesce((to_jsonb(v) ->> 'compatible_from')::integer, v.version) AS "compatibleFrom"
           FROM ${s}.petrichor_schema AS v`,
        );
  return row ?? { version: 0, compatibleFrom: 0 };
}

async function createSchema(queries: Queries, schema: string, location: string): Promise<void> {
  const s = quotedSchema(schema);
  const tables = await queries.rows('SELECT 1 FROM pg_tables WHERE schemaname = $1 LIMIT 1', [
    schema,
  ]);
  if (tables.length > 0) throw new ForeignDatabaseError(location, 'schema');
  const existing = await queries.rows('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
  if (existing.length === 0) await queries.exec(`CREATE SCHEMA ${s}`);
  await queries.exec(`
    CREATE TABLE ${s}.petrichor_schema (version integer NOT NULL);
    INSERT INTO ${s}.petrichor_schema VALUES (0)`);
}
