import { ForeignDatabaseError, StoreVersionError } from '../store-errors.ts';
import type { Database, Queries } from './database.ts';
import { listMigrations, quotedSchema, SCHEMA_VERSION } from './schema.ts';

/**
 * Creates or migrates the tables of a schema. Several processes may do so at the same time.
 * @throws ForeignDatabaseError, StoreVersionError
 */
export async function migrate(database: Database, schema: string): Promise<void> {
  const s = quotedSchema(schema);
  const location = `${database.location}, schema ${schema},`;
  if ((await readVersion(database, schema)) === SCHEMA_VERSION) return;
  await database.write(async (queries) => {
    await queries.rows(`SELECT pg_advisory_xact_lock(hashtext('petrichor.schema'), hashtext($1))`, [
      schema,
    ]);
    const version = await readVersion(queries, schema);
    if (version > SCHEMA_VERSION) throw new StoreVersionError(location, version, SCHEMA_VERSION);
    if (version === 0) await createSchema(queries, schema, location);
    for (const migration of listMigrations(s).slice(version)) await queries.exec(migration);
    await queries.exec(`UPDATE ${s}.petrichor_schema SET version = ${SCHEMA_VERSION}`);
  });
}

/**
 * Reads the schema version; 0 when there are no tables. Looks for the table in the catalog, because a connection caches
 * the result of earlier name lookups.
 */
async function readVersion(queries: Queries, schema: string): Promise<number> {
  const s = quotedSchema(schema);
  const tables = await queries.rows(
    `SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'petrichor_schema'`,
    [schema],
  );
  if (tables.length === 0) return 0;
  const [row] = await queries.rows<{ version: number }>(
    `SELECT version FROM ${s}.petrichor_schema`,
  );
  return row?.version ?? 0;
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
