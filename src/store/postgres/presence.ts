import type pg from 'pg';
import { InvalidInputError } from '../../core/invalid-input-error.ts';
import type { OwnerId } from '../store.ts';
import { quietly } from './database.ts';
import type { Database, Queries } from './database.ts';
import { toStoreError } from './postgres-errors.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5000;

/**
 * One connection that stands for this process: it holds a lock for each runtime that joined here, and hears of what other
 * processes write. Stopped or slow, a process keeps it; killed, it does not, and the server lets go of its locks: so a peer
 * that sees no lock knows that the owner is dead, without any clock. One that breaks is made anew, with its locks.
 */
export class Presence {
  readonly #database: Database;
  readonly #schema: string;
  readonly #channel: string;
  readonly #heard: (payload: string | undefined) => void;
  readonly #owners = new Set<OwnerId>();
  /** Those whose locks the connection of now holds. */
  readonly #locked = new Set<OwnerId>();
  #client: Promise<pg.Client> | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #returning = false;
  #closed = false;

  constructor(
    database: Database,
    schema: string,
    channel: string,
    /** Gets the payload of each notification; nothing when some may have been missed. */
    heard: (payload: string | undefined) => void,
  ) {
    this.#database = database;
    this.#schema = schema;
    this.#channel = channel;
    this.#heard = heard;
  }

  /** Those that joined here and have not left. */
  get here(): readonly OwnerId[] {
    return [...this.#owners];
  }

  joinedHere(owner: OwnerId): boolean {
    return this.#owners.has(owner);
  }

  /** @throws InvalidInputError when another process has that owner */
  async join(owner: OwnerId): Promise<void> {
    await this.#oneByOne(async (client) => {
      if (this.#owners.has(owner)) return;
      if (!(await this.#lock(client, owner)))
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
  }

  /** Lets go of every lock. */
  async close(): Promise<void> {
    this.#closed = true;
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
    client.on('notification', ({ channel, payload }) => {
      if (channel === this.#channel) this.#heard(payload);
    });
    // A host that is gone without a word is noticed within half a minute.
    await client.query(
      `SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4; LISTEN "${this.#channel}"`,
    );
    client.once('end', () => this.#lost());
    return client;
  }

  #lost(): void {
    this.#client = undefined;
    this.#locked.clear();
    if (!this.#closed && !this.#returning) void this.#comeBack();
  }

  async #comeBack(): Promise<void> {
    this.#returning = true;
    let pauseMs = FIRST_PAUSE_MS;
    while (!this.#closed) {
      await quietly(pauseMs);
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
      if (await this.#oneByOne(async (client) => this.#lockAll(client)).catch(() => false)) break;
    }
    this.#returning = false;
    this.#heard(undefined);
  }

  /** False while the server still takes a connection that broke for alive, with the locks it had. */
  async #lockAll(client: pg.Client): Promise<boolean> {
    for (const owner of this.#owners) {
      if (!this.#locked.has(owner) && !(await this.#lock(client, owner))) return false;
    }
    return true;
  }

  /** Takes the owner's lock, and forgets those whose owners are dead. False when another connection has it. */
  async #lock(client: pg.Client, owner: OwnerId): Promise<boolean> {
    const s = this.#schema;
    await client.query('BEGIN');
    try {
      // Nobody looks for dead ones between a name that is written and the lock that shows it alive.
      await client.query(`LOCK TABLE ${s}.owners IN EXCLUSIVE MODE`);
      await client.query(`DELETE FROM ${s}.owners AS o WHERE o.name <> $1 AND NOT ${isHeld(s)}`, [
        owner,
      ]);
      await client.query(`INSERT INTO ${s}.owners (name) VALUES ($1) ON CONFLICT DO NOTHING`, [
        owner,
      ]);
      const { rows } = await client.query<{ locked: boolean }>(
        `SELECT pg_try_advisory_lock(${lockKey(s, 'lock')}) AS locked FROM ${s}.owners WHERE name = $1`,
        [owner],
      );
      await client.query('COMMIT');
      const locked = rows[0]?.locked === true;
      if (locked) this.#locked.add(owner);
      return locked;
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

/** The living ones, for whom another connection or this process vouches. */
export async function aliveOwners(
  queries: Queries,
  schema: string,
  here: readonly OwnerId[],
): Promise<ReadonlySet<OwnerId>> {
  const held = await queries.rows<{ name: OwnerId }>(
    `SELECT o.name FROM ${schema}.owners AS o WHERE ${isHeld(schema)}`,
  );
  return new Set([...here, ...held.map(({ name }) => name)]);
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
