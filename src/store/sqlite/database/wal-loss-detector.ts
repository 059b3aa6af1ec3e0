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

/** The counter is increased once per this many transactions. At most that many can be lost undetected. */
const TRANSACTIONS_PER_COUNT = 16;

/** The kind of the document that counts the writes of a file. It belongs to the file, and is in no copy. */
export const WRITES_KIND = 'petrichor.store';
const ID = 'writes';

/**
 * Detects that a database lost its write-ahead log. Without the log SQLite opens the file silently in the state of
 * the last checkpoint, which may be empty. So a counter in the database increases every few transactions, and a small
 * witness file beside the database gets its value after the commit. A database whose counter is behind the witness
 * file lost its log. The witness file is removed when SQLite has checkpointed and removed the whole log.
 */
export class WalLossDetector {
  readonly #file: string;
  readonly #count: Statement<{ version: number }>;
  #descriptor: number | undefined;
  #untilNextCount = 0;

  constructor(connection: Connection) {
    this.#file = connection.file;
    this.#count = connection.prepare(
      `INSERT INTO documents (kind, id, version, value) VALUES ('${WRITES_KIND}', '${ID}', 1, 'null')
       ON CONFLICT (kind, id) DO UPDATE SET version = version + 1 RETURNING version`,
    );
  }

  /** Call within a transaction. Returns the new value of the counter if this transaction increases it. */
  nextCount(): number | undefined {
    if (this.#untilNextCount-- > 0) return undefined;
    this.#untilNextCount = TRANSACTIONS_PER_COUNT - 1;
    return this.#count.get()?.version;
  }

  /** Writes the counter of a committed transaction to the witness file. */
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
      // The witness file is only an additional check, so a failure must not fail a committed transaction.
    }
  }

  /** Call after the database is closed. */
  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
    // SQLite removes the log when the last connection closes, after all of it is in the database.
    if (!existsSync(`${this.#file}-wal`)) rmSync(witnessFile(this.#file), { force: true });
  }
}

/**
 * Checks that the database is not behind its witness file. Call before the first write.
 * @throws StoreCorruptError
 */
export function assertLogPresent(database: DatabaseSync, file: string): void {
  const expected = readWitnessCount(file);
  if (expected === 0 || readDatabaseCount(database) >= expected) return;
  const witness = witnessFile(file);
  throw new StoreCorruptError(
    file,
    `lacks its last writes: the write-ahead log ${file}-wal was removed or replaced before it was checkpointed. Put the log back, or restore the database from a backup and remove ${witness}. To continue without the lost writes, remove ${witness}`,
  );
}

/**
 * Checks that an empty or missing file was not a store before. SQLite would treat it as a new database and discard the
 * log that belongs to it.
 * @throws StoreCorruptError
 */
export function assertNotEmptied(file: string): void {
  const exists = existsSync(file);
  if (exists && statSync(file).size > 0) return;
  const log = `${file}-wal`;
  const problem = exists ? 'is empty' : 'does not exist';
  if (existsSync(log) && statSync(log).size > 0)
    throw new StoreCorruptError(file, `${problem}, but its write-ahead log ${log} exists`);
  if (exists && readWitnessCount(file) > 0)
    throw new StoreCorruptError(
      file,
      `is empty, but ${witnessFile(file)} shows that it was a store. To start a new store, remove that file`,
    );
  // Database and log were both removed, which means that a new store is wanted.
  if (!exists) rmSync(witnessFile(file), { force: true });
}

function witnessFile(file: string): string {
  return `${file}-writes`;
}

/** The last counter in the witness file; 0 when there is none. */
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
    .prepare(`SELECT version FROM documents WHERE kind = '${WRITES_KIND}' AND id = '${ID}'`)
    .get();
  return Number(row?.['version'] ?? 0);
}
