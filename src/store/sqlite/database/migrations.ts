import type { DatabaseSync } from 'node:sqlite';
import { ForeignDatabaseError, StoreVersionError } from '../../store-errors.ts';

/** A step of the schema: SQL, or SQL followed by a function for data that SQL cannot read. */
export type SchemaMigration =
  | string
  | { readonly sql: string; readonly convert: (database: DatabaseSync) => void };

/** The one at index `n` migrates schema version `n` to `n + 1`. Append only; never change a released one. */
export type Migrations = readonly SchemaMigration[];

/** Marks a database as a Petrichor store: "ptrc". */
export const STORE_APPLICATION_ID = 0x70747263;

/**
 * Checks that the database is empty or belongs to Petrichor, and is not newer than `migrations`. Writes nothing.
 * @throws ForeignDatabaseError, StoreVersionError
 */
export function checkDatabase(
  database: DatabaseSync,
  file: string,
  migrations: Migrations,
  applicationId: number = STORE_APPLICATION_ID,
): void {
  const application = readNumber(database, 'PRAGMA application_id');
  const version = readNumber(database, 'PRAGMA user_version');
  const tables = readNumber(database, 'SELECT count(*) FROM sqlite_schema');
  const empty = application === 0 && version === 0 && tables === 0;
  if (!empty && application !== applicationId) throw new ForeignDatabaseError(file);
  if (version > migrations.length) throw new StoreVersionError(file, version, migrations.length);
}

/** Migrates the database to the newest schema, in one transaction. */
export function migrate(
  database: DatabaseSync,
  file: string,
  migrations: Migrations,
  applicationId: number = STORE_APPLICATION_ID,
): void {
  if (readNumber(database, 'PRAGMA user_version') === migrations.length) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    // Check again under the write lock: another process may have migrated it in between.
    checkDatabase(database, file, migrations, applicationId);
    const version = readNumber(database, 'PRAGMA user_version');
    for (const migration of migrations.slice(version)) {
      if (typeof migration === 'string') database.exec(migration);
      else {
        database.exec(migration.sql);
        migration.convert(database);
      }
    }
    database.exec(`PRAGMA application_id = ${applicationId}`);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

function readNumber(database: DatabaseSync, sql: string): number {
  const row = database.prepare(sql).get();
  return Number(Object.values(row ?? {})[0]);
}
