import type { DatabaseSync } from 'node:sqlite';
import { ForeignDatabaseError, StoreVersionError } from '../../store-errors.ts';

/** What brings a database from schema version `n` to `n + 1`, at index `n`. Never changed once released; only added to. */
export type Migrations = readonly string[];

/** Marks a database as a store of ours: "ptrc". */
export const STORE_APPLICATION_ID = 0x70747263;

/**
 * Refuses a database that is another program's, or newer than `migrations`. Reads only.
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

/** Brings the database to the newest schema, in one transaction: a failure leaves it as it was. */
export function migrate(
  database: DatabaseSync,
  file: string,
  migrations: Migrations,
  applicationId: number = STORE_APPLICATION_ID,
): void {
  if (readNumber(database, 'PRAGMA user_version') === migrations.length) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    // Again, now that nobody else can: another process may just have migrated it.
    checkDatabase(database, file, migrations, applicationId);
    const version = readNumber(database, 'PRAGMA user_version');
    for (const sql of migrations.slice(version)) database.exec(sql);
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
