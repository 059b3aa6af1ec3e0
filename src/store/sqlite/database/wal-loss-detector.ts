import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { StoreCorruptError } from '../../store-errors.ts';
import type { Connection, Statement } from './connection.ts';

/** Every so many transactions the count goes up: so many at most may be lost without a witness. */
const TRANSACTIONS_PER_COUNT = 16;

const KIND = 'petrichor.store';
const ID = 'writes';

/**
 * Remembers beside a database what it held. Without its write-ahead log a SQLite file opens as if nothing had happened,
 * as it was when the log was last copied into it, which may be empty. So a count in the database goes up every few
 * transactions, and a small file says how far it was, after the commit. A database that is behind that file lost its log.
 * The file is removed when the log was copied whole and removed.
 */
export class WalLossDetector {
  readonly #file: string;
  readonly #count: Statement<{ version: number }>;
  #descriptor: number | undefined;
  #untilNextCount = 0;

  constructor(connection: Connection) {
    this.#file = connection.file;
    this.#count = connection.prepare(
      `INSERT INTO documents (kind, id, version, value) VALUES ('${KIND}', '${ID}', 1, 'null')
       ON CONFLICT (kind, id) DO UPDATE SET version = version + 1 RETURNING version`,
    );
  }

  /** Within a transaction: the count with it, when it goes up. */
  nextCount(): number | undefined {
    if (this.#untilNextCount-- > 0) return undefined;
    this.#untilNextCount = TRANSACTIONS_PER_COUNT - 1;
    return this.#count.get()?.version;
  }

  /** Says that a transaction with this count was committed. */
  recordCommitted(count: number | undefined): void {
    if (count === undefined) return;
    try {
      const flags = constants.O_WRONLY | constants.O_CREAT;
      this.#descriptor ??= openSync(
        witnessFile(this.#file),
        flags,
        statSync(this.#file).mode & 0o666,
      );
      writeSync(this.#descriptor, `${String(count).padEnd(20)}\n`, 0);
    } catch {
      // It is a second look at what SQLite promises, and no reason to refuse what is committed.
    }
  }

  /** Once the database is closed. */
  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
    // SQLite removes the log with the last connection, when all of it is in the database.
    if (!existsSync(`${this.#file}-wal`)) rmSync(witnessFile(this.#file), { force: true });
  }
}

/**
 * Refuses a database that is behind its witness, before anything is written to it.
 * @throws StoreCorruptError
 */
export function assertLogPresent(database: DatabaseSync, file: string): void {
  const expected = readWitnessCount(file);
  if (expected === 0 || readDatabaseCount(database) >= expected) return;
  const witness = witnessFile(file);
  throw new StoreCorruptError(
    file,
    `lacks what was written last: its write-ahead log ${file}-wal was removed or replaced before its content was in the database. Put the log back, or restore the database from a copy and remove ${witness}; to go on without what is lost, remove ${witness}`,
  );
}

/** SQLite would take an empty file for a new database, and throw away the log that belongs to it. @throws StoreCorruptError */
export function assertNotEmptied(file: string): void {
  const isThere = existsSync(file);
  if (isThere && statSync(file).size > 0) return;
  const log = `${file}-wal`;
  const what = isThere ? 'is empty' : 'is not there';
  if (existsSync(log) && statSync(log).size > 0)
    throw new StoreCorruptError(file, `${what}, though there is a write-ahead log for it, ${log}`);
  if (isThere && readWitnessCount(file) > 0)
    throw new StoreCorruptError(
      file,
      `is empty, though ${witnessFile(file)} says that it was a store: to begin a new one, remove that file`,
    );
  // Both were removed: somebody wants a new one.
  if (!isThere) rmSync(witnessFile(file), { force: true });
}

function witnessFile(file: string): string {
  return `${file}-writes`;
}

/** What the witness saw last; 0 when there is none. */
function readWitnessCount(file: string): number {
  const witness = witnessFile(file);
  if (!existsSync(witness)) return 0;
  const count = Number.parseInt(readFileSync(witness, 'utf8'), 10);
  return Number.isSafeInteger(count) ? count : 0;
}

function readDatabaseCount(database: DatabaseSync): number {
  const tables = database
    .prepare(`SELECT count(*) AS count FROM sqlite_schema WHERE name = 'documents'`)
    .get();
  if (tables?.['count'] === 0) return 0;
  const row = database
    .prepare(`SELECT version FROM documents WHERE kind = '${KIND}' AND id = '${ID}'`)
    .get();
  return Number(row?.['version'] ?? 0);
}
