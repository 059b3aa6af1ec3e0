import type pg from 'pg';
import { InvalidInputError } from '../../core/index.ts';
import { StoreUnavailableError } from '../store-errors.ts';
import type { OwnerId } from '../store.ts';
import { parseNoticePayload, type ChangeNotice } from '../server/change-notices.ts';
import { OwnerFailureDetector } from '../server/owner-failure-detector.ts';
import type { OwnerFailureDetectorOptions, OwnerRow } from '../server/owner-failure-detector.ts';
import type { OwnerRegistry } from '../server/server-database.ts';
import { lockKey, ownersSql } from './owners-sql.ts';
import { unrefDelay } from './database.ts';
import type { Database, Queries } from './database.ts';
import { toStoreError } from './postgres-errors.ts';

const MIN_BACKOFF_MS = 50;
/** Shorter than any reasonable `absenceMs`, so that a live owner is back before it counts as dead. */
const MAX_BACKOFF_MS = 1000;

export interface PostgresOwnerRegistryOptions extends OwnerFailureDetectorOptions {
  readonly database: Database;
  /** The quoted name of the schema. */
  readonly schema: string;
  readonly channel: string;
  /** How often to test the connection, and how long to wait for the answer, in milliseconds. */
  readonly checkMs: number;
  /** Called with each notification; undefined when some may have been missed. */
  readonly onNotice: (notice: ChangeNotice | undefined) => void;
}

/**
 * Keeps one dedicated connection for this process. It holds an advisory lock for each owner that joined here, and
 * receives notifications of other processes. A stopped or slow process keeps its connection. When a process is
 * killed, the server releases its locks. A broken connection is opened again, with its locks. So an owner without a
 * lock for some time is dead: see `OwnerFailureDetector`.
 */
export class PostgresOwnerRegistry implements OwnerRegistry<Queries> {
  readonly #options: PostgresOwnerRegistryOptions;
  readonly #database: Database;
  readonly #schema: string;
  readonly #failureDetector: OwnerFailureDetector;
  readonly #owners = new Set<OwnerId>();
  #dead: readonly OwnerRow[] = [];
  /** The owners whose locks the current connection holds. */
  readonly #locked = new Set<OwnerId>();
  #client: Promise<pg.Client> | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #reconnecting = false;
  #closed = false;
  #check: ReturnType<typeof setInterval> | undefined;

  constructor(options: PostgresOwnerRegistryOptions) {
    this.#options = options;
    this.#database = options.database;
    this.#schema = options.schema;
    this.#failureDetector = new OwnerFailureDetector(options);
  }

  get localOwners(): readonly OwnerId[] {
    return [...this.#owners];
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
    this.#locked.delete(owner);
    await this.#serialize(async (client) => {
      const text = `DELETE FROM ${this.#schema}.owners WHERE name = $1 RETURNING pg_advisory_unlock(${lockKey(this.#schema, 'lock')})`;
      await client.query(text, [owner]);
    });
  }

  async listen(): Promise<void> {
    await this.#serialize(async () => undefined);
    // A connection that is lost without an error is detected because the test gets no answer.
    this.#check ??= setInterval(() => void this.#checkConnection(), this.#options.checkMs).unref();
  }

  async findAlive(queries: Queries): Promise<ReadonlySet<OwnerId>> {
    const rows = await queries.rows<OwnerRow>(ownersSql(this.#schema));
    this.observe(rows);
    const dead = new Set(this.#dead.map(({ name }) => name));
    const others = rows.flatMap(({ name }) => (dead.has(name) ? [] : [name]));
    return new Set([...this.#owners, ...others]);
  }

  get dead(): readonly OwnerRow[] {
    return this.#dead;
  }

  observe(rows: readonly OwnerRow[]): void {
    this.#dead = this.#failureDetector.findDead(rows);
  }

  /** Closes the connection, which releases every lock. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#check);
    await this.#queue.catch(() => undefined);
    const client = await this.#client?.catch(() => undefined);
    if (client === undefined) return;
    // Otherwise a process that only waits for this end would exit before it, with an error.
    keepProcessAlive(client, true);
    await client.end().catch(() => undefined);
  }

  async #serialize<T>(action: (client: pg.Client) => Promise<T>): Promise<T> {
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

  async #connected(): Promise<pg.Client> {
    this.#client ??= this.#connect().catch((error: unknown) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  async #connect(): Promise<pg.Client> {
    const client = await this.#database.connection();
    const { channel, onNotice } = this.#options;
    client.on('notification', (notification) => {
      if (notification.channel === channel)
        onNotice(parseNoticePayload(notification.payload ?? ''));
    });
    try {
      // The server detects a lost client within half a minute.
      await client.query(
        `SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4; LISTEN "${channel}"`,
      );
    } catch (error) {
      destroyConnection(client);
      throw error;
    }
    client.once('end', () => this.#onConnectionLost());
    return client;
  }

  /** Destroys the connection when it does not answer. */
  async #checkConnection(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    if (client === undefined || this.#closed) return;
    try {
      const ping: pg.QueryConfig & { readonly query_timeout: number } = {
        text: 'SELECT 1',
        query_timeout: this.#options.checkMs,
      };
      await client.query(ping);
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

  async #lockAll(client: pg.Client): Promise<void> {
    for (const owner of this.#owners)
      if (!this.#locked.has(owner)) await this.#lock(client, owner, 'itself');
  }

  /**
   * Takes a new lock for the owner, and removes dead owners. Returns false when another connection holds the owner's
   * lock. With `itself` such a connection is ignored: it is the broken one of this process, which the server may
   * still consider open.
   */
  async #lock(
    client: pg.Client,
    owner: OwnerId,
    mayBeHeldBy: 'itself' | 'others',
  ): Promise<boolean> {
    const s = this.#schema;
    await client.query('BEGIN');
    try {
      // Prevents that another process looks for dead owners between the insert of the row and the lock.
      await client.query(`LOCK TABLE ${s}.owners IN EXCLUSIVE MODE`);
      const { rows } = await client.query<OwnerRow>(ownersSql(s));
      const isHeld = rows.some(({ name, held }) => name === owner && held);
      if (isHeld && mayBeHeldBy === 'others') {
        await client.query('ROLLBACK');
        return false;
      }
      const dead = this.#failureDetector.findDead(rows).map(({ name }) => name);
      await client.query(`DELETE FROM ${s}.owners WHERE name = ANY($1::text[])`, [
        [...dead.filter((name) => !this.#owners.has(name)), owner],
      ]);
      // A new lock number each time shows observers of an absence that the owner was back.
      await client.query(
        `WITH made AS (INSERT INTO ${s}.owners (name) VALUES ($1) RETURNING lock)
         SELECT pg_advisory_lock(${lockKey(s, 'lock')}) FROM made`,
        [owner],
      );
      await client.query('COMMIT');
      this.#locked.add(owner);
      return true;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }
}

/** Makes the connection keep the process alive while a query runs, and not while it only listens. */
function keepProcessAlive(client: pg.Client, busy: boolean): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- missing in the types of pg
  const { connection } = client as unknown as { connection: { ref(): void; unref(): void } };
  if (busy) connection.ref();
  else connection.unref();
}

/** Destroys a connection without the protocol's goodbye, because the server may be gone. */
function destroyConnection(client: pg.Client): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- missing in the types of pg
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
  connection.stream.destroy();
}
