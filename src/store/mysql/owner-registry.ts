import { randomInt } from 'node:crypto';
import type { Connection, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { InvalidInputError } from '../../core/index.ts';
import { OwnerFailureDetector } from '../server/owner-failure-detector.ts';
import type { OwnerFailureDetectorOptions, OwnerRow } from '../server/owner-failure-detector.ts';
import type { OwnerRegistry } from '../server/server-database.ts';
import { StoreUnavailableError } from '../store-errors.ts';
import type { OwnerId } from '../store.ts';
import { destroyConnection, keepProcessAlive, onClosed, queryInTime } from './connection-socket.ts';
import { unrefDelay, type MysqlDatabase } from './database.ts';
import { isDuplicate, toStoreError } from './mysql-errors.ts';
import { NoticePoller, type NoticePollerOptions } from './notice-poller.ts';
import { toOwnerRows, type OwnerLocks } from './owners-sql.ts';
import type { TableNames } from './schema.ts';
import type { Reads } from './statement.ts';

const MIN_BACKOFF_MS = 50;
/** Shorter than any reasonable `absenceMs`, so that a live owner is back before it counts as dead. */
const MAX_BACKOFF_MS = 1000;
const MAX_LOCK = 2 ** 47;

export interface MysqlOwnerRegistryOptions
  extends OwnerFailureDetectorOptions, Pick<NoticePollerOptions, 'pollMs' | 'onNotice'> {
  readonly database: MysqlDatabase;
  readonly tables: TableNames;
  readonly locks: OwnerLocks;
  /** The number of the lock of this process. */
  readonly presence: number;
  /** How often to test the connection, and how long to wait for the answer, in milliseconds. */
  readonly checkMs: number;
}

/** A number for a lock that no other lock has. */
export function createLockNumber(): number {
  return 1 + randomInt(MAX_LOCK);
}

/**
 * Keeps one dedicated connection for this process. It holds a lock of the server for each owner that joined here, and
 * one of its own. A slow process keeps its connection. When a process is killed, the server releases its locks. A broken
 * connection is opened again, with its locks. So an owner without a lock for some time is dead: see
 * `OwnerFailureDetector`.
 */
export class MysqlOwnerRegistry implements OwnerRegistry<Reads> {
  readonly #options: MysqlOwnerRegistryOptions;
  readonly #database: MysqlDatabase;
  readonly #failureDetector: OwnerFailureDetector;
  readonly #poller: NoticePoller;
  readonly #owners = new Set<OwnerId>();
  #dead: readonly OwnerRow[] = [];
  /** The owners whose locks the current connection holds, with the numbers of the locks. */
  readonly #locked = new Map<OwnerId, number>();
  #client: Promise<Connection> | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #reconnecting = false;
  #closed = false;
  #check: ReturnType<typeof setInterval> | undefined;

  constructor(options: MysqlOwnerRegistryOptions) {
    this.#options = options;
    this.#database = options.database;
    this.#failureDetector = new OwnerFailureDetector(options);
    const { database, tables, pollMs, onNotice } = options;
    this.#poller = new NoticePoller({ queries: database.queries, tables, pollMs, onNotice });
  }

  get localOwners(): readonly OwnerId[] {
    return [...this.#owners];
  }

  get dead(): readonly OwnerRow[] {
    return this.#dead;
  }

  hasJoined(owner: OwnerId): boolean {
    return this.#owners.has(owner);
  }

  assertVisible(owner: OwnerId): void {
    if (!this.#owners.has(owner) || this.#locked.has(owner)) return;
    throw new StoreUnavailableError('io', this.#database.location, {
      cause: new Error(
        'The connection that holds the owner lock of this process broke. Reconnecting.',
      ),
    });
  }

  async join(owner: OwnerId): Promise<void> {
    await this.#serialize(async (client) => {
      if (this.#owners.has(owner)) return;
      if (!(await this.#lock(client, owner, 'others')))
        throw new InvalidInputError('owner', 'has already joined: each runtime needs a unique id.');
      this.#owners.add(owner);
    });
  }

  async leave(owner: OwnerId): Promise<void> {
    if (!this.#owners.delete(owner)) return;
    const lock = this.#locked.get(owner);
    this.#locked.delete(owner);
    await this.#serialize(async (client) => {
      await client.query(`DELETE FROM ${this.#options.tables('owners')} WHERE name = ?`, [owner]);
      if (lock !== undefined)
        await client.query('SELECT RELEASE_LOCK(?)', [this.#options.locks.name(lock)]);
    });
  }

  async listen(): Promise<void> {
    await this.#serialize(async () => undefined);
    await this.#poller.start();
    // A connection that is lost without an error is detected because the test gets no answer.
    this.#check ??= setInterval(() => void this.#checkConnection(), this.#options.checkMs).unref();
  }

  async findAlive(queries: Reads): Promise<ReadonlySet<OwnerId>> {
    const rows = toOwnerRows(await queries.rows(...this.#options.locks.read));
    this.observe(rows);
    const dead = new Set(this.#dead.map(({ name }) => name));
    const others = rows.flatMap(({ name }) => (dead.has(name) ? [] : [name]));
    return new Set([...this.#owners, ...others]);
  }

  observe(rows: readonly OwnerRow[]): void {
    this.#dead = this.#failureDetector.findDead(rows);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#check);
    this.#poller.stop();
    await this.#queue.catch(() => undefined);
    const client = await this.#client?.catch(() => undefined);
    if (client === undefined) return;
    // Otherwise a process that only waits for this end would exit before it, with an error.
    keepProcessAlive(client, true);
    await client.end().catch(() => destroyConnection(client));
  }

  async #serialize<T>(action: (client: Connection) => Promise<T>): Promise<T> {
    const inTurn = async (): Promise<T> => {
      const client = await this.#connected();
      keepProcessAlive(client, true);
      try {
        return await action(client);
      } catch (error) {
        throw toStoreError(error, this.#database.location);
      } finally {
        keepProcessAlive(client, false);
      }
    };
    const result = this.#queue.then(inTurn, inTurn);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  async #connected(): Promise<Connection> {
    this.#client ??= this.#connect().catch((error: unknown) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  async #connect(): Promise<Connection> {
    const { connection } = await this.#database.connection();
    try {
      // The lock of the former connection may still be held for a while. Then it shows the same.
      await connection.query('SELECT GET_LOCK(?, 0)', [
        this.#options.locks.name(this.#options.presence),
      ]);
    } catch (error) {
      destroyConnection(connection);
      throw error;
    }
    onClosed(connection, () => this.#onConnectionLost());
    return connection;
  }

  /** Destroys the connection when it does not answer. */
  async #checkConnection(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    if (client === undefined || this.#closed) return;
    try {
      await queryInTime(client, 'SELECT 1', this.#options.checkMs);
    } catch {
      destroyConnection(client);
    }
  }

  #onConnectionLost(): void {
    this.#client = undefined;
    this.#locked.clear();
    if (!this.#closed && !this.#reconnecting) void this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    this.#reconnecting = true;
    let pauseMs = MIN_BACKOFF_MS;
    do {
      await unrefDelay(pauseMs);
      pauseMs = Math.min(MAX_BACKOFF_MS, pauseMs * 2);
      await this.#serialize(async (client) => this.#lockAll(client)).catch(() => undefined);
      // The connection may have been lost again meanwhile.
    } while (
      !this.#closed &&
      (this.#client === undefined || this.#locked.size < this.#owners.size)
    );
    this.#reconnecting = false;
    this.#failureDetector.markReconnected();
    this.#options.onNotice(undefined);
  }

  async #lockAll(client: Connection): Promise<void> {
    for (const owner of this.#owners)
      if (!this.#locked.has(owner)) await this.#lock(client, owner, 'itself');
  }

  /**
   * Takes a new lock for the owner, and removes dead owners. Returns false when another connection holds the owner's
   * lock. With `itself` such a connection is ignored: it is the broken one of this process, which the server may
   * still consider open. A new lock number each time shows observers of an absence that the owner was back.
   */
  async #lock(
    client: Connection,
    owner: OwnerId,
    mayBeHeldBy: 'itself' | 'others',
  ): Promise<boolean> {
    const { locks, tables } = this.#options;
    const t = tables('owners');
    const lock = createLockNumber();
    // The lock comes before the row, so that no process sees a row without its lock.
    await client.query('SELECT GET_LOCK(?, 0)', [locks.name(lock)]);
    for (;;) {
      const [rows] = await client.query<RowDataPacket[]>(locks.read[0], [...(locks.read[1] ?? [])]);
      const owners = toOwnerRows(rows);
      const present = owners.find(({ name }) => name === owner);
      if (present?.held === true && mayBeHeldBy === 'others') {
        await client.query('SELECT RELEASE_LOCK(?)', [locks.name(lock)]);
        return false;
      }
      for (const one of this.#failureDetector.findDead(owners))
        if (!this.#owners.has(one.name) && one.name !== owner)
          await client.query(`DELETE FROM ${t} WHERE name = ? AND lock_no = ?`, [
            one.name,
            one.lock,
          ]);
      if (await replaceOwner(client, t, { owner, lock, present })) break;
      // Another process has joined with this id meanwhile.
    }
    this.#locked.set(owner, lock);
    return true;
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
