import { randomInt } from 'node:crypto';
import type { Connection, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import type { OwnerRow } from '../server/owner-failure-detector.ts';
import type { OwnerLockDriver, OwnerLockRequest } from '../server/server-owner-registry.ts';
import type { OwnerId } from '../store.ts';
import { destroyConnection, keepProcessAlive, onClosed, queryInTime } from './connection-socket.ts';
import type { MysqlDatabase } from './database.ts';
import { isDuplicate, toStoreError } from './mysql-errors.ts';
import { NoticePoller, type NoticePollerOptions } from './notice-poller.ts';
import { toOwnerRows, type OwnerLocks } from './owners-sql.ts';
import type { TableNames } from './schema.ts';
import type { Reads } from './statement.ts';

const MAX_LOCK = 2 ** 47;

export interface MysqlOwnerLockOptions extends Pick<NoticePollerOptions, 'pollMs' | 'onNotice'> {
  readonly database: MysqlDatabase;
  readonly tables: TableNames;
  readonly locks: OwnerLocks;
  /** The number of the lock of this process. */
  readonly presence: number;
}

/** A number for a lock that no other lock has. */
export function createLockNumber(): number {
  return 1 + randomInt(MAX_LOCK);
}

/** Holds a named lock of the server for each owner, and one of its own. Notices of other processes are polled. */
export class MysqlOwnerLockDriver implements OwnerLockDriver<Connection, Reads> {
  readonly #options: MysqlOwnerLockOptions;
  readonly #poller: NoticePoller;

  constructor(options: MysqlOwnerLockOptions) {
    this.#options = options;
    const { database, tables, pollMs, onNotice } = options;
    this.#poller = new NoticePoller({ queries: database.queries, tables, pollMs, onNotice });
  }

  async connect(): Promise<Connection> {
    const { database, locks, presence } = this.#options;
    const { connection } = await database.connection();
    try {
      // The lock of the former connection may still be held for a while. Then it shows the same.
      await connection.query('SELECT GET_LOCK(?, 0)', [locks.name(presence)]);
    } catch (error) {
      destroyConnection(connection);
      throw error;
    }
    return connection;
  }

  onClosed(connection: Connection, listener: () => void): void {
    onClosed(connection, listener);
  }

  keepProcessAlive(connection: Connection, isBusy: boolean): void {
    keepProcessAlive(connection, isBusy);
  }

  async ping(connection: Connection, timeoutMs: number): Promise<unknown> {
    return queryInTime(connection, 'SELECT 1', timeoutMs);
  }

  async end(connection: Connection): Promise<void> {
    await connection.end();
  }

  destroy(connection: Connection): void {
    destroyConnection(connection);
  }

  async lock(
    connection: Connection,
    { owner, mayBeHeldBy, findDead }: OwnerLockRequest,
  ): Promise<number | undefined> {
    const { locks, tables } = this.#options;
    const t = tables('owners');
    const lock = createLockNumber();
    // The lock comes before the row, so that no process sees a row without its lock.
    await connection.query('SELECT GET_LOCK(?, 0)', [locks.name(lock)]);
    for (;;) {
      const [rows] = await connection.query<RowDataPacket[]>(locks.read[0], [
        ...(locks.read[1] ?? []),
      ]);
      const owners = toOwnerRows(rows);
      const present = owners.find(({ name }) => name === owner);
      if (present?.held === true && mayBeHeldBy === 'others') {
        await connection.query('SELECT RELEASE_LOCK(?)', [locks.name(lock)]);
        return undefined;
      }
      for (const one of findDead(owners))
        if (one.name !== owner)
          await connection.query(`DELETE FROM ${t} WHERE name = ? AND lock_no = ?`, [
            one.name,
            one.lock,
          ]);
      if (await replaceOwner(connection, t, { owner, lock, present })) return lock;
      // Another process has joined with this id meanwhile.
    }
  }

  async release(connection: Connection, owner: OwnerId, lock: number | undefined): Promise<void> {
    const { locks, tables } = this.#options;
    await connection.query(`DELETE FROM ${tables('owners')} WHERE name = ?`, [owner]);
    if (lock !== undefined) await connection.query('SELECT RELEASE_LOCK(?)', [locks.name(lock)]);
  }

  async readOwners(queries: Reads): Promise<readonly OwnerRow[]> {
    return toOwnerRows(await queries.rows(...this.#options.locks.read));
  }

  readonly startNotices = async (): Promise<void> => this.#poller.start();

  readonly stopNotices = (): void => this.#poller.stop();

  toStoreError(error: unknown): unknown {
    return toStoreError(error, this.#options.database.location);
  }
}

/** Writes the row of an owner. Returns false when another process has written it since it was read. */
async function replaceOwner(
  client: Connection,
  table: string,
  {
    owner,
    lock,
    present,
  }: {
    readonly owner: OwnerId;
    readonly lock: number;
    readonly present: OwnerRow | undefined;
  },
): Promise<boolean> {
  if (present !== undefined) {
    const [result] = await client.query<ResultSetHeader>(
      `UPDATE ${table} SET lock_no = ? WHERE name = ? AND lock_no = ?`,
      [lock, owner, present.lock],
    );
    return result.affectedRows === 1;
  }
  try {
    await client.query(`INSERT INTO ${table} (name, lock_no) VALUES (?, ?)`, [owner, lock]);
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}
