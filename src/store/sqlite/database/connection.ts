import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { toStoreError } from './sqlite-errors.ts';

/** A prepared statement whose rows have the columns of `Row`. Parameters are positional. */
export interface Statement<Row> {
  get(...values: SQLInputValue[]): Row | undefined;
  all(...values: SQLInputValue[]): Row[];
  run(...values: SQLInputValue[]): { readonly changes: number | bigint };
}

/** One connection to a database file: statements prepared once, transactions that nothing can enter from outside. */
export class Connection {
  /** The file's path, as errors name it. */
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

  /** The caller states what the columns are: the one place where that is believed. */
  prepare<Row>(sql: string): Statement<Row> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- SQL has no types that TypeScript could read
    return this.#database.prepare(sql) as unknown as Statement<Row>;
  }

  /** Commits everything `body` writes, or none of it. @throws what `body` or the database throws. */
  write(body: () => void): void {
    this.#transaction(this.#begin, body);
  }

  /** Reads one state of the database, whatever others write meanwhile. Inside `write` it reads that transaction's state. */
  read<T>(body: () => T): T {
    return this.#inTransaction ? body() : this.#transaction(this.#beginRead, body);
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
      // After some errors SQLite has rolled back by itself, and says that there is nothing to roll back.
    }
  }

  /** The error a caller gets for one of the database. */
  toStoreError(error: unknown): unknown {
    return toStoreError(error, this.file);
  }
}
