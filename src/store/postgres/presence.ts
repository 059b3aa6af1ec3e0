import type pg from 'pg';
import { InvalidInputError } from '../../core/invalid-input-error.ts';
import { StoreUnavailableError } from '../store-errors.ts';
import type { OwnerId } from '../store.ts';
import { Absences } from './absences.ts';
import type { AbsencesOptions, OwnerRow } from './absences.ts';
import { quietly } from './database.ts';
import type { Database, Queries } from './database.ts';
import { toStoreError } from './postgres-errors.ts';

const FIRST_PAUSE_MS = 50;
/** Shorter than any absence that counts: who lives is back before it is taken for dead. */
const LONGEST_PAUSE_MS = 1000;

export interface PresenceOptions extends AbsencesOptions {
  readonly database: Database;
  /** As SQL writes it. */
  readonly schema: string;
  readonly channel: string;
  /** How often to see whether the connection still stands, in milliseconds; an answer may take as long. */
  readonly checkMs: number;
  /** Gets the payload of each notification; nothing when some may have been missed. */
  readonly heard: (payload: string | undefined) => void;
}

/**
 * One connection that stands for this process: it holds a lock for each runtime that joined here, and hears of what other
 * processes write. Stopped or slow, a process keeps it; killed, it does not, and the server lets go of its locks. One that
 * breaks is made anew, with its locks. So who has no lock for a while is dead; see `Absences`.
 */
export class Presence {
  readonly #options: PresenceOptions;
  readonly #database: Database;
  readonly #schema: string;
  readonly #absences: Absences;
  readonly #owners = new Set<OwnerId>();
  /** Those whose locks the connection of now holds. */
  readonly #locked = new Set<OwnerId>();
  #client: Promise<pg.Client> | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #returning = false;
  #closed = false;
  #check: ReturnType<typeof setInterval> | undefined;

  constructor(options: PresenceOptions) {
    this.#options = options;
    this.#database = options.database;
    this.#schema = options.schema;
    this.#absences = new Absences(options);
  }

  /** Those that joined here and have not left. */
  get here(): readonly OwnerId[] {
    return [...this.#owners];
  }

  joinedHere(owner: OwnerId): boolean {
    return this.#owners.has(owner);
  }

  /**
   * Holds that other processes see this owner alive, if it joined here: what it writes while they do not could be done
   * twice.
   * @throws StoreUnavailableError
   */
  mustBeSeen(owner: OwnerId): void {
    if (!this.#owners.has(owner) || this.#locked.has(owner)) return;
    throw new StoreUnavailableError('io', this.#database.location, {
      cause: new Error(
        'The connection that shows this process alive broke, and is being made anew.',
      ),
    });
  }

  /** @throws InvalidInputError when another process has that owner */
  async join(owner: OwnerId): Promise<void> {
    await this.#oneByOne(async (client) => {
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
    await this.#oneByOne(async (client) => {
      const text = `DELETE FROM ${this.#schema}.owners WHERE name = $1 RETURNING pg_advisory_unlock(${lockKey(this.#schema, 'lock')})`;
      await client.query(text, [owner]);
    });
  }

  /** Begins to hear of what others write. */
  async listen(): Promise<void> {
    await this.#oneByOne(async () => undefined);
    // A connection that is gone without a word is known to be by its silence.
    this.#check ??= setInterval(() => void this.#see(), this.#options.checkMs).unref();
  }

  /** The living ones: those that joined here, and those that are not known to be dead. */
  async alive(queries: Queries): Promise<ReadonlySet<OwnerId>> {
    const rows = await queries.rows<OwnerRow>(ownersSql(this.#schema));
    const dead = new Set(this.#absences.dead(rows).map(({ name }) => name));
    const others = rows.flatMap(({ name }) => (dead.has(name) ? [] : [name]));
    return new Set([...this.#owners, ...others]);
  }

  /** Lets go of every lock. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#check);
    await this.#turn.catch(() => undefined);
    const client = await this.#client?.catch(() => undefined);
    await client?.end().catch(() => undefined);
  }

  async #oneByOne<T>(say: (client: pg.Client) => Promise<T>): Promise<T> {
    const inTurn = async (): Promise<T> => {
      const client = await this.#connected();
      hold(client, true);
      try {
        return await say(client);
      } catch (error) {
        throw toStoreError(error, this.#database.location);
      } finally {
        hold(client, false);
      }
    };
    const said = this.#turn.then(inTurn, inTurn);
    this.#turn = said.catch(() => undefined);
    return said;
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
    const { channel: own, heard } = this.#options;
    client.on('notification', ({ channel, payload }) => {
      if (channel === own) heard(payload);
    });
    try {
      // A host that is gone without a word is noticed within half a minute.
      await client.query(
        `SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4; LISTEN "${own}"`,
      );
    } catch (error) {
      breakOff(client);
      throw error;
    }
    client.once('end', () => this.#lost());
    return client;
  }

  /** Breaks off a connection over which nothing comes back. */
  async #see(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    if (client === undefined || this.#closed) return;
    try {
      const question: pg.QueryConfig & { readonly query_timeout: number } = {
        text: 'SELECT 1',
        query_timeout: this.#options.checkMs,
      };
      await client.query(question);
    } catch {
      breakOff(client);
    }
  }

  #lost(): void {
    this.#client = undefined;
    this.#locked.clear();
    if (!this.#closed && !this.#returning) void this.#comeBack();
  }

  async #comeBack(): Promise<void> {
    this.#returning = true;
    let pauseMs = FIRST_PAUSE_MS;
    do {
      await quietly(pauseMs);
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
      await this.#oneByOne(async (client) => this.#lockAll(client)).catch(() => undefined);
      // It may have been lost again meanwhile.
    } while (
      !this.#closed &&
      (this.#client === undefined || this.#locked.size < this.#owners.size)
    );
    this.#returning = false;
    this.#absences.returned();
    this.#options.heard(undefined);
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
      const gone = this.#absences.dead(rows).map(({ name }) => name);
      await client.query(`DELETE FROM ${s}.owners WHERE name = ANY($1::text[])`, [
        [...gone.filter((name) => !this.#owners.has(name)), owner],
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
function hold(client: pg.Client, busy: boolean): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its types leave these out
  const { connection } = client as unknown as { connection: { ref(): void; unref(): void } };
  if (busy) connection.ref();
  else connection.unref();
}

/** Ends a connection without asking the other side, which may be gone. */
function breakOff(client: pg.Client): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its types leave these out
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
  connection.stream.destroy();
}

/** All owners with their locks, as `OwnerRow` names the columns. */
function ownersSql(schema: string): string {
  return `SELECT o.name, o.lock, ${isHeld(schema)} AS held,
      (extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()) * 1000)::float8 AS "uptimeMs"
    FROM ${schema}.owners AS o`;
}

/** Advisory locks are the database's: the table's own number tells those of two schemas apart. */
function lockKey(schema: string, lock: string): string {
  return `('${schema}.owners'::regclass::oid::bigint << 32) | ${lock}`;
}

function isHeld(schema: string): string {
  return `EXISTS (
    SELECT 1 FROM pg_locks AS l
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND l.objid::bigint = o.lock
      AND l.classid = '${schema}.owners'::regclass::oid
      AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))`;
}
