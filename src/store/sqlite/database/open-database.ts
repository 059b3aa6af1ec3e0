import { closeSync, existsSync, openSync, realpathSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { StoreUnavailableError } from '../../store-errors.ts';
import { assertNotEmptied, assertLogPresent } from './wal-loss-detector.ts';
import { checkDatabase, migrate, STORE_APPLICATION_ID, type Migrations } from './migrations.ts';
import { retryBusy, type BusyPolicy } from './retry-busy.ts';
import { PAGE_SIZE } from './schema.ts';
import { toStoreError } from './sqlite-errors.ts';

/** Pages of the write-ahead log after which a commit also copies them into the database: 4 MB, some 150 turns. */
const CHECKPOINT_PAGES = 4000;

/** What a burst may leave the write-ahead log's file at, in bytes. */
const LOG_SIZE_LIMIT = 16 * 1024 * 1024;

const CACHE_KIB = 8 * 1024;

/**
 * Opens a database file, made if there is none, and brings it to the newest schema.
 * @throws StoreCorruptError, ForeignDatabaseError, StoreVersionError, StoreUnavailableError
 */
export async function openDatabase(
  file: string,
  migrations: Migrations,
  policy: BusyPolicy,
  applicationId: number = STORE_APPLICATION_ID,
): Promise<{ readonly database: DatabaseSync; readonly file: string }> {
  let database: DatabaseSync | undefined;
  try {
    assertNotEmptied(file);
    createPrivateFile(file);
    const opened = new DatabaseSync(file);
    database = opened;
    await retryBusy(policy, () => configureDatabase(opened, file, migrations, applicationId));
    // Links resolved: all processes must agree on the names of the files beside it.
    return { database, file: realpathSync(file) };
  } catch (error) {
    database?.close();
    throw toStoreError(error, file);
  }
}

/**
 * A new database is for its owner alone, whatever the umask is; SQLite gives its log the same mode. The file of a
 * database that is there keeps its mode: it may be shared with a group on purpose.
 */
function createPrivateFile(file: string): void {
  if (existsSync(file)) return;
  try {
    closeSync(openSync(file, 'a', 0o600));
  } catch {
    // What is wrong with the path, SQLite says.
  }
}

function configureDatabase(
  database: DatabaseSync,
  file: string,
  migrations: Migrations,
  applicationId: number,
): void {
  database.exec('PRAGMA busy_timeout = 0');
  // Before anything that writes: another program's file stays untouched.
  checkDatabase(database, file, migrations, applicationId);
  assertLogPresent(database, file);
  database.exec(`PRAGMA page_size = ${PAGE_SIZE}`);
  const mode = database.prepare('PRAGMA journal_mode = WAL').get();
  if (mode?.['journal_mode'] !== 'wal') throw new StoreUnavailableError('io', file);
  database.exec('PRAGMA synchronous = FULL');
  // Where a plain fsync leaves data in the drive's cache (macOS), ask for more.
  database.exec('PRAGMA fullfsync = ON');
  database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  database.exec(`PRAGMA journal_size_limit = ${LOG_SIZE_LIMIT}`);
  database.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
  migrate(database, file, migrations, applicationId);
}
