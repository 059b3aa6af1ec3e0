import { closeSync, existsSync, openSync, realpathSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { StoreUnavailableError } from '../../store-errors.ts';
import { assertNotEmptied, assertLogPresent } from './wal-loss-detector.ts';
import { checkDatabase, migrate, STORE_APPLICATION_ID, type Migrations } from './migrations.ts';
import { retryBusy, type BusyPolicy } from './retry-busy.ts';
import { PAGE_SIZE } from './schema.ts';
import { toStoreError } from './sqlite-errors.ts';

/** Size of the write-ahead log, in pages, at which a commit checkpoints it: 4 MB, about 250 turns. */
const CHECKPOINT_PAGES = 8000;

/** Size in bytes to which the file of the write-ahead log is truncated after a burst. */
const LOG_SIZE_LIMIT = 16 * 1024 * 1024;

const CACHE_KIB = 8 * 1024;

/**
 * Opens a database file, creates it if it does not exist, and migrates it to the newest schema.
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
    // Resolve links, so that all processes use the same names for the files beside the database.
    return { database, file: realpathSync(file) };
  } catch (error) {
    database?.close();
    throw toStoreError(error, file);
  }
}

/**
 * Creates a new database file with mode 0600, whatever the umask is; SQLite gives its log the same mode. An existing
 * file keeps its mode, because it may be shared with a group on purpose.
 */
function createPrivateFile(file: string): void {
  if (existsSync(file)) return;
  try {
    closeSync(openSync(file, 'a', 0o600));
  } catch {
    // SQLite reports the error when it opens the path.
  }
}

function configureDatabase(
  database: DatabaseSync,
  file: string,
  migrations: Migrations,
  applicationId: number,
): void {
  database.exec('PRAGMA busy_timeout = 0');
  // Check before the first write, so that a file of another program is not changed.
  checkDatabase(database, file, migrations, applicationId);
  assertLogPresent(database, file);
  database.exec(`PRAGMA page_size = ${PAGE_SIZE}`);
  const mode = database.prepare('PRAGMA journal_mode = WAL').get();
  if (mode?.['journal_mode'] !== 'wal') throw new StoreUnavailableError('io', file);
  database.exec('PRAGMA synchronous = FULL');
  // On macOS a plain fsync leaves data in the cache of the drive.
  database.exec('PRAGMA fullfsync = ON');
  database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  database.exec(`PRAGMA journal_size_limit = ${LOG_SIZE_LIMIT}`);
  database.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
  migrate(database, file, migrations, applicationId);
}
