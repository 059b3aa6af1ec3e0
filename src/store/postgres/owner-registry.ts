import type pg from 'pg';
import { InvalidInputError } from '../../core/errors/invalid-input-error.ts';
import { StoreUnavailableError } from '../store-errors.ts';
import type { OwnerId } from '../store.ts';
import { OwnerFailureDetector } from './owner-failure-detector.ts';
import type { OwnerFailureDetectorOptions, OwnerRow } from './owner-failure-detector.ts';
import { unrefDelay } from './database.ts';
import type { Database, Queries } from './database.ts';
import { toStoreError } from './postgres-errors.ts';

const MIN_BACKOFF_MS = 50;
/** Shorter than any absence that counts: who lives is back before it is taken for dead. */
const MAX_BACKOFF_MS = 1000;

export interface PostgresOwnerRegistryOptions extends OwnerFailureDetectorOptions {
  readonly database: Database;
  /** As SQL writes it. */
  readonly schema: string;
  readonly channel: string;
  /** How often to see whether the connection still stands, in milliseconds; an answer may take as long. */
  readonly checkMs: number;
  /** Gets the payload of each notification; nothing when some may have been missed. */
  readonly onNotification: (payload: string | undefined) => void;
}

/**
 * One connection that stands for this process: it holds a lock for each runtime that joined here, and hears of what other
 * processes write. Stopped or slow, a process keeps it; killed, it does not, and the server lets go of its locks. One that
 * breaks is made anew, with its locks. So who has no lock for a while is dead; see `Absences`.
 */
export class PostgresOwnerRegistry {
  readonly #options: PostgresOwnerRegistryOptions;
  readonly #database: Database;
  readonly #schema: string;
  readonly #failureDetector: OwnerFailureDetector;
  readonly #owners = new Set<OwnerId>();
  /** Those whose locks the connection of now holds. */
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

  /** Those that joined here and have not left. */
  get localOwners(): readonly OwnerId[] {
    return [...this.#owners];
  }

  hasJoined(owner: OwnerId): boolean {
    return this.#owners.has(owner);
  }

  /**
   * Holds that other processes see this owner alive, if it joined here: what it writes while they do not could be done
   * twice.
   * @throws StoreUnavailableError
   */
  assertVisible(owner: OwnerId): void {
    if (!this.#owners.has(owner) || this.#locked.has(owner)) return;
    throw new StoreUnavailableError('io', this.#database.location, {
      cause: new Error(
        'The connection that shows this process alive broke, and is being made anew.',
      ),
    });
  }

  /** @throws InvalidInputError when another process has that owner */
  async join(owner: OwnerId): Promise<void> {
    await this.#serialize(async (client) => {
      if (this.#owners.has(owner)) return;
      if (!(await this.#lock(client, owner, 'others')))
        throw new InvalidInputError(
          'owner',
          'has joined already: each runtime needs an id of its own.',
        );
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

  /** Begins to hear of what others write. */
  async listen(): Promise<void> {
    await this.#serialize(async () => undefined);
    // A connection that is gone without a word is known to be by its silence.
    this.#check ??= setInterval(() => void this.#checkConnection(), this.#options.checkMs).unref();
  }

  /** The living ones: those that joined here, and those that are not known to be dead. */
  async alive(queries: Queries): Promise<ReadonlySet<OwnerId>> {
    const rows = await queries.rows<OwnerRow>(ownersSql(this.#schema));
    const dead = new Set(this.#failureDetector.findDead(rows).map(({ name }) => name));
    const others = rows.flatMap(({ name }) => (dead.has(name) ? [] : [name]));
    return new Set([...this.#owners, ...others]);
  }

  /** Lets go of every lock. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#check);
    await this.#queue.catch(() => undefined);
    const client = await this.#client?.catch(() => undefined);
    await client?.end().catch(() => undefined);
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
    const { channel: own, onNotification } = this.#options;
    client.on('notification', ({ channel, payload }) => {
      if (channel === own) onNotification(payload);
    });
    try {
      // A host that is gone without a word is noticed within half a minute.
      await client.query(
        `SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4; LISTEN "${own}"`,
      );
    } catch (error) {
      destroyConnection(client);
      throw error;
    }
    client.once('end', () => this.#onConnectionLost());
    return client;
  }

  /** Breaks off a connection over which nothing comes back. */
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
      // It may have been lost again meanwhile.
    } while (
      !this.#closed &&
      (this.#client === undefined || this.#locked.size < this.#owners.size)
    );
    this.#reconnecting = false;
    this.#failureDetector.markReconnected();
    this.#options.onNotification(undefined);
  }

  async #lockAll(client: pg.Client): Promise<void> {
    for (const owner of this.#owners)
      if (!this.#locked.has(owner)) await this.#lock(client, owner, 'itself');
  }

  /**
   * Takes a new lock for the owner, and forgets those that are dead. False when another connection shows it alive; its own
   * former one does not count, which the server may take for alive for a while after it broke.
   */
  async #lock(
    client: pg.Client,
    owner: OwnerId,
    mayBeHeldBy: 'itself' | 'others',
  ): Promise<boolean> {
    const s = this.#schema;
    await client.query('BEGIN');
    try {
      // Nobody looks for dead ones between a name that is written and the lock that shows it alive.
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
      // A new number each time: whoever saw it absent sees that it was back.
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

/** Whether the connection keeps the process alive: while something is asked over it, and not while it listens. */
function keepProcessAlive(client: pg.Client, busy: boolean): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its types leave these out
  const { connection } = client as unknown as { connection: { ref(): void; unref(): void } };
  if (busy) connection.ref();
  else connection.unref();
}

/** Ends a connection without asking the other side, which may be gone. */
function destroyConnection(client: pg.Client): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its types leave these out
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
  connection.stream.destroy();
}

/** All owners with their locks, as `OwnerRow` names the columns. */
function ownersSql(schema: string): string {
  return `SELECT o.name, o.lock, ${isLockHeldSql(schema)} AS held,
      (extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()) * 1000)::float8 AS "uptimeMs"
    FROM ${schema}.owners AS o`;
}

/** Advisory locks are the database's: the table's own number tells those of two schemas apart. */
function lockKey(schema: string, lock: string): string {
  return `('${schema}.owners'::regclass::oid::bigint << 32) | ${lock}`;
}

function isLockHeldSql(schema: string): string {
  return `EXISTS (
    SELECT 1 FROM pg_locks AS l
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND l.objid::bigint = o.lock
      AND l.classid = '${schema}.owners'::regclass::oid
      AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))`;
}
