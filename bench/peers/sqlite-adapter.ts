import { DatabaseSync, type SQLInputValue } from 'node:sqlite';

interface AdaptedStatement {
  /** The statement returns rows. */
  readonly reader: boolean;
  all(...values: unknown[]): unknown[];
  get(...values: unknown[]): unknown;
  run(...values: unknown[]): {
    readonly changes: number | bigint;
    readonly lastInsertRowid: number | bigint;
  };
  iterate(...values: unknown[]): Iterable<unknown>;
}

/**
 * The part of better-sqlite3 that the packages use, over Node's own SQLite. So nothing has to be compiled for one
 * version of Node. Both are synchronous bindings of the same library. The file has a write-ahead log, which is faster
 * than the rollback journal, and every commit is synced.
 */
export class SqliteAdapter {
  readonly #database: DatabaseSync;

  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    this.#database.exec('PRAGMA busy_timeout = 10000');
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  }

  pragma(text: string): void {
    this.#database.exec(`PRAGMA ${text}`);
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  prepare(sql: string): AdaptedStatement {
    const statement = this.#database.prepare(sql);
    return {
      reader: statement.columns().length > 0,
      all: (...values) => statement.all(...toValues(values)),
      get: (...values) => statement.get(...toValues(values)),
      run: (...values) => statement.run(...toValues(values)),
      iterate: (...values) => statement.iterate(...toValues(values)),
    };
  }

  transaction<Args extends unknown[], Result>(
    run: (...args: Args) => Result,
  ): (...args: Args) => Result {
    return (...args) => {
      this.#database.exec('BEGIN');
      try {
        const result = run(...args);
        this.#database.exec('COMMIT');
        return result;
      } catch (error) {
        this.#database.exec('ROLLBACK');
        throw error;
      }
    };
  }

  close(): void {
    this.#database.close();
  }
}

/** better-sqlite3 takes the values one by one or as one list. */
function toValues(values: readonly unknown[]): SQLInputValue[] {
  const list: readonly unknown[] = Array.isArray(values[0]) ? values[0] : values;
  return list.map((value) => value ?? null) as SQLInputValue[];
}
