import type { RowDataPacket } from 'mysql2/promise';
import type { DiskSpace } from '../server/server-store.ts';
import { StoreFailedError, StoreUnavailableError } from '../store-errors.ts';
import type { MysqlDatabase } from './database.ts';
import { toStoreError } from './mysql-errors.ts';
import type { TableNames } from './schema.ts';

/** How long a statement waits for the definition of a table, before it fails. Others wait behind it. */
const LOCK_TIMEOUT_S = 5;

/** The tables whose rows are deleted. */
const TABLES = [
  'sessions',
  'steps',
  'inbox',
  'input_keys',
  'snapshots',
  'blobs',
  'shared_state',
  'tombstones',
  'documents',
  'pending_calls',
  'usage',
  'commits',
];

/** A row that OPTIMIZE TABLE returns. */
interface Answer {
  readonly Msg_type: string;
  readonly Msg_text: string;
}

/** The space of the tables with one prefix. */
export function mysqlSpace(database: MysqlDatabase, t: TableNames): DiskSpace {
  const run = async <T extends RowDataPacket>(...statements: string[]): Promise<T[]> => {
    const { connection, end } = await database.connection();
    try {
      let rows: T[] = [];
      for (const statement of statements) [rows] = await connection.query<T[]>(statement);
      return rows;
    } catch (error) {
      throw toStoreError(error, database.location);
    } finally {
      await end();
    }
  };
  const names = TABLES.map((table) => `'${t(table).replaceAll('`', '')}'`).join(', ');
  return {
    measure: async () => {
      const tables = TABLES.map(t).join(', ');
      const [row] = await run<RowDataPacket & { readonly size: number | null }>(
        // Brings the figures of the next statement up to date.
        `ANALYZE TABLE ${tables}`,
        `SELECT CAST(SUM(data_length + index_length + data_free) AS DOUBLE) AS size
         FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name IN (${names})`,
      );
      return row?.size ?? 0;
    },
    vacuum: async (isFull) => {
      // The server reuses the pages of deleted rows by itself.
      if (!isFull) return;
      for (const table of TABLES) {
        const answers = await run<RowDataPacket & Answer>(
          `SET SESSION lock_wait_timeout = ${LOCK_TIMEOUT_S}`,
          `OPTIMIZE TABLE ${t(table)}`,
        );
        // The statement does not fail where its work does.
        const failure = answers.find(({ Msg_type: type }) => type.toLowerCase() === 'error');
        if (failure === undefined) continue;
        const cause = new Error(failure.Msg_text);
        throw /timeout/i.test(failure.Msg_text)
          ? new StoreUnavailableError('busy', database.location, { cause })
          : new StoreFailedError(database.location, 'of OPTIMIZE TABLE', { cause });
      }
    },
  };
}
