import type pg from 'pg';
import { parseNoticePayload, type ChangeNotice } from '../server/change-notices.ts';
import type { OwnerRow } from '../server/owner-failure-detector.ts';
import type { OwnerLockDriver, OwnerLockRequest } from '../server/server-owner-registry.ts';
import type { OwnerId } from '../store.ts';
import type { Database } from './database.ts';
import type { Queries } from './queries.ts';
import { lockKey, ownersSql } from './owners-sql.ts';
import { toStoreError } from './postgres-errors.ts';

export interface PostgresOwnerLockOptions {
  readonly database: Database;
  /** The quoted name of the schema. */
  readonly schema: string;
  readonly channel: string;
  /** Called with each notification; undefined when some may have been missed. */
  readonly onNotice: (notice: ChangeNotice | undefined) => void;
}

/** Holds an advisory lock for each owner, on a connection that also receives notifications of other processes. */
export class PostgresOwnerLockDriver implements OwnerLockDriver<pg.Client, Queries> {
  readonly #options: PostgresOwnerLockOptions;
  readonly #schema: string;

  constructor(options: PostgresOwnerLockOptions) {
    this.#options = options;
    this.#schema = options.schema;
  }

  async connect(): Promise<pg.Client> {
    const { database, channel, onNotice } = this.#options;
    const client = await database.connection();
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
      this.destroy(client);
      throw error;
    }
    return client;
  }

  onClosed(client: pg.Client, listener: () => void): void {
    client.once('end', listener);
  }

  keepProcessAlive(client: pg.Client, isBusy: boolean): void {
    const connection = getConnection(client);
    if (isBusy) connection.ref();
    else connection.unref();
  }

  async ping(client: pg.Client, timeoutMs: number): Promise<unknown> {
    const ping: pg.QueryConfig & { readonly query_timeout: number } = {
      text: 'SELECT 1',
      query_timeout: timeoutMs,
    };
    return client.query(ping);
  }

  async end(client: pg.Client): Promise<void> {
    await client.end();
  }

  destroy(client: pg.Client): void {
    getConnection(client).stream.destroy();
  }

  async lock(
    client: pg.Client,
    { owner, mayBeHeldBy, findDead }: OwnerLockRequest,
  ): Promise<number | undefined> {
    const s = this.#schema;
    await client.query('BEGIN');
    try {
      // Prevents that another process looks for dead owners between the insert of the row and the lock.
      await client.query(`LOCK TABLE ${s}.owners IN EXCLUSIVE MODE`);
      const { rows } = await client.query<OwnerRow>(ownersSql(s));
      const isHeld = rows.some(({ name, held }) => name === owner && held);
      if (isHeld && mayBeHeldBy === 'others') {
        await client.query('ROLLBACK');
        return undefined;
      }
      await client.query(`DELETE FROM ${s}.owners WHERE name = ANY($1::text[])`, [
        [...findDead(rows).map(({ name }) => name), owner],
      ]);
      const made = await client.query<{ lock: number }>(
        `WITH made AS (INSERT INTO ${s}.owners (name) VALUES ($1) RETURNING lock)
         SELECT lock, pg_advisory_lock(${lockKey(s, 'lock')}) FROM made`,
        [owner],
      );
      await client.query('COMMIT');
      return made.rows[0]?.lock;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  async release(client: pg.Client, owner: OwnerId): Promise<void> {
    const text = `DELETE FROM ${this.#schema}.owners WHERE name = $1 RETURNING pg_advisory_unlock(${lockKey(this.#schema, 'lock')})`;
    await client.query(text, [owner]);
  }

  async readOwners(queries: Queries): Promise<readonly OwnerRow[]> {
    return queries.rows<OwnerRow>(ownersSql(this.#schema));
  }

  toStoreError(error: unknown): unknown {
    return toStoreError(error, this.#options.database.location);
  }
}

interface SocketConnection {
  ref(): void;
  unref(): void;
  readonly stream: { destroy(): void };
}

function getConnection(client: pg.Client): SocketConnection {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- missing in the types of pg
  return (client as unknown as { readonly connection: SocketConnection }).connection;
}
