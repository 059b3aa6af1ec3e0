import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { openSqliteStore, type Store } from '../src/store/index.ts';

/** A store on SQLite, and what is written to its file. */
export interface MeasuredStore {
  readonly store: Store;
  /** Durable transactions so far. */
  commits: () => number;
  /** Bytes of write-ahead log since the last `size()`. The log is never copied into the database by itself. */
  written: () => number;
  /** Bytes of the database, after its log was copied into it and emptied. */
  size: () => number;
}

export async function openMeasuredStore(file: string): Promise<MeasuredStore> {
  let commits = 0;
  const databases: DatabaseSync[] = [];
  const store = await openSqliteStore(file, {
    failpoints: {
      afterCommit: () => void commits++,
      opened: (database) => {
        databases.push(database);
        database.exec('PRAGMA wal_autocheckpoint = 0');
      },
    },
  });
  return {
    store,
    commits: () => commits,
    written: () => statSync(`${file}-wal`).size,
    size: () => {
      for (const database of databases) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      return statSync(file).size;
    },
  };
}
