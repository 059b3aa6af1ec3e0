import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { toStoreError } from './sqlite-errors.ts';

/** A prepared statement whose rows have the columns of `Row`. Parameters are positional. */
export interface Statement<Row> {
  get(...values: SQLInputValue[]): Row | undefined;
  all(...values: SQLInputValue[]): Row[];
  run(...values: SQLInputValue[]): { readonly changes: number | bigint };
}

/**
 * A connection to a database file, with prepared statements and synchronous transactions, so no other code runs
 * inside.
 */
export class Connection {
  /** The path of the file, for error messages. */
  readonly file: string;
  readonly #database: DatabaseSync;
  readonly #begin: Statement<never>;
  readonly #beginRead: Statement<never>;
  readonly #commit: Statement<never>;
  readonly #rollback: Statement<never>;
  #inTransaction = false;

  constructor(file: string, database: DatabaseSync) {
    this.file = file;
    this.#database = database;
    this.#begin = this.prepare('BEGIN IMMEDIATE');
    this.#beginRead = this.prepare('BEGIN');
    this.#commit = this.prepare('COMMIT');
    this.#rollback = this.prepare('ROLLBACK');
  }

  /** Prepares a statement. The caller declares the columns; they are not checked. */
  prepare<Row>(sql: string): Statement<Row> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- SQL has no types that TypeScript could read
    return this.#database.prepare(sql) as unknown as Statement<Row>;
  }

  /** Runs `body` in a write transaction. @throws every error of `body` or the database, after a rollback */
  write(body: () => void): void {
    this.#transaction(this.#begin, body);
  }

  /**
   * Runs `body` in a read transaction, which sees one state of the database. Inside `write` it joins that
   * transaction.
   */
  read<T>(body: () => T): T {
    return this.#inTransaction ? body() : this.#transaction(this.#beginRead, body);
  }

  /** Begins a transaction that may stay open across awaits. The connection must have no other user until it ends. */
  begin(kind: 'read' | 'write'): void {
    (kind === 'read' ? this.#beginRead : this.#begin).run();
    this.#inTransaction = true;
  }

  /** Ends the transaction of `begin`. */
  end(outcome: 'commit' | 'rollback'): void {
    this.#inTransaction = false;
    if (outcome === 'rollback') return this.#undo();
    this.#commit.run();
  }

  /**
   * Writes the file anew, without free pages. Not within a transaction. Other connections can read meanwhile, and not write.
   */
  vacuum(): void {
    this.#database.exec('VACUUM');
  }

  /** Writes the log to the file, and empties it, as far as no other connection needs it. Not within a transaction. */
  checkpoint(): void {
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  close(): void {
    this.#database.close();
  }

  #transaction<T>(begin: Statement<never>, body: () => T): T {
    begin.run();
    this.#inTransaction = true;
    try {
      const result = body();
      this.#commit.run();
      return result;
    } catch (error) {
      this.#undo();
      throw error;
    } finally {
      this.#inTransaction = false;
    }
  }

  #undo(): void {
    try {
      this.#rollback.run();
    } catch {
      // After some errors SQLite has already rolled back, and then ROLLBACK fails.
    }
  }

  /** Converts an error of the database to a store error. */
  toStoreError(error: unknown): unknown {
    return toStoreError(error, this.file);
  }
}
