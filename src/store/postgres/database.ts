import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import { StoreClosedError, StoreUnavailableError } from '../store-errors.ts';
import type { Failpoints } from '../failpoints.ts';
import {
  isConnectionLost,
  isTornDown,
  MissingPostgresPackageError,
  toStoreError,
} from './postgres-errors.ts';

/** Where statements go: a transaction, or any connection that is free. */
export interface Queries {
  rows<T>(text: string, values?: readonly unknown[]): Promise<readonly T[]>;
  /** Several statements, without parameters. */
  exec(text: string): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly maxConnections: number;
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** 0 for any age. */
  readonly connectionMaxAgeMs: number;
  readonly tls: boolean | object | undefined;
  readonly busyMs: number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly failpoints: Failpoints;
  readonly onStatement: ((text: string) => void) | undefined;
}

const TRIES = 5;
const INT8 = 20;
const IDLE_IN_TRANSACTION_MS = 60_000;

/** The connections of a store, and what is said over them. */
export class Database {
  /** Host and database, without what is secret. */
  readonly location: string;
  readonly #pg: typeof pg;
  readonly #options: DatabaseOptions;
  readonly #pool: pg.Pool;
  readonly #names = new Map<string, string>();
  readonly #open = new Set<Promise<unknown>>();
  #closing = false;

  /** @throws MissingPostgresPackageError */
  static async load(options: DatabaseOptions): Promise<Database> {
    try {
      return new Database((await import('pg')).default, options);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')
        throw new MissingPostgresPackageError({ cause: error });
      throw error;
    }
  }

  private constructor(loaded: typeof pg, options: DatabaseOptions) {
    this.#pg = loaded;
    this.#options = options;
    this.location = locationOf(options.url);
    this.#pool = new loaded.Pool({
      ...this.#config(),
      max: options.maxConnections,
      idleTimeoutMillis: options.idleTimeoutMs,
      maxLifetimeSeconds: Math.ceil(options.connectionMaxAgeMs / 1000),
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      lock_timeout: options.busyMs,
      // An idle connection keeps no process alive.
      allowExitOnIdle: true,
    });
    // A connection that breaks while nobody uses it is replaced by the next one.
    this.#pool.on('error', () => undefined);
  }

  /** A connection outside the pool, connected. The caller ends it. */
  async connection(): Promise<pg.Client> {
    const client = new this.#pg.Client(this.#config());
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch (error) {
      throw toStoreError(error, this.location);
    }
    return client;
  }

  /** One statement by itself. */
  async rows<T>(text: string, values: readonly unknown[] = []): Promise<readonly T[]> {
    return this.#kept(async () => {
      try {
        return await this.#say<T>(this.#pool, text, values);
      } catch (error) {
        throw toStoreError(error, this.location);
      }
    });
  }

  async exec(text: string): Promise<void> {
    await this.#kept(async () => this.#pool.query(text));
  }

  /**
   * Runs `body` in a transaction and resolves with its result when that is durable; what it throws undoes the transaction.
   * It may run several times. `sign` is said last in it, and names the transaction in a column `xid`: when the connection
   * breaks in the commit, the server is asked what became of it.
   */
  async write<T>(
    body: (queries: Queries) => Promise<T>,
    sign?: (result: T) => readonly [text: string, values: readonly unknown[]] | undefined,
  ): Promise<T> {
    return this.#kept(async () => {
      for (let tries = 1; ; tries++) {
        try {
          return await this.#tryWrite(body, sign);
        } catch (error) {
          if (!isTornDown(error) || tries === TRIES) throw toStoreError(error, this.location);
        }
      }
    });
  }

  /** Takes nothing more, and resolves when what was asked for is done. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.allSettled(this.#open);
    await this.#pool.end();
  }

  #config(): pg.ClientConfig {
    const { url, connectTimeoutMs, tls } = this.#options;
    return {
      connectionString: url.replace(/^([a-z]+)\+[a-z0-9_]+:/i, '$1:'),
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      application_name: 'petrichor',
      ...(tls !== undefined && { ssl: tls }),
      types: {
        // Whole numbers of this store are all exact in a double.
        getTypeParser: (oid: number, format?: 'text' | 'binary') =>
          oid === INT8 ? Number : this.#pg.types.getTypeParser(oid, format),
      },
    };
  }

  async #kept<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closing) throw new StoreClosedError();
    const done = call();
    this.#open.add(done);
    try {
      return await done;
    } finally {
      this.#open.delete(done);
    }
  }

  async #say<T>(
    client: pg.Pool | pg.PoolClient,
    text: string,
    values: readonly unknown[],
  ): Promise<readonly T[]> {
    this.#options.onStatement?.(text);
    let name = this.#names.get(text);
    if (name === undefined) {
      name = `petrichor_${this.#names.size}`;
      this.#names.set(text, name);
    }
    const { rows } = await client.query({ name, text, values: [...values] });
    return rows as readonly T[];
  }

  async #tryWrite<T>(
    body: (queries: Queries) => Promise<T>,
    sign?: (result: T) => readonly [text: string, values: readonly unknown[]] | undefined,
  ): Promise<T> {
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    try {
      await client.query('BEGIN');
      const rows: Queries['rows'] = async (text, values = []) => this.#say(client, text, values);
      const exec = async (text: string): Promise<void> => void (await client.query(text));
      const result = await body({ rows, exec });
      const signed = sign?.(result);
      const [named] = signed === undefined ? [] : await rows<{ xid: string }>(...signed);
      this.#options.failpoints.beforeCommit?.();
      try {
        await client.query('COMMIT');
      } catch (error) {
        if (!isConnectionLost(error)) throw error;
        broken = asError(error);
        if (named === undefined || !(await this.#landed(named.xid, error))) throw error;
      }
      this.#options.failpoints.afterCommit?.();
      return result;
    } catch (error) {
      if (broken === undefined) {
        await client.query('ROLLBACK').catch((failed: unknown) => {
          broken = asError(failed);
        });
      }
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** Whether a transaction was committed of which nobody heard the end. @throws StoreUnavailableError */
  async #landed(xid: string, cause: unknown): Promise<boolean> {
    const { busyMs, sleep } = this.#options;
    for (let waitedMs = 0, pauseMs = 20; ; waitedMs += pauseMs, pauseMs *= 2) {
      const status = await this.#statusOf(xid).catch((error: unknown) => {
        if (error instanceof StoreUnavailableError || isConnectionLost(error)) return 'unknown';
        throw error;
      });
      if (status === 'committed') return true;
      if (status === 'aborted') return false;
      if (waitedMs >= busyMs) throw new StoreUnavailableError('io', this.location, { cause });
      await sleep(pauseMs);
    }
  }

  async #statusOf(xid: string): Promise<string | null | undefined> {
    // Not from the pool, which may have no other connection than the broken one.
    const client = await this.connection();
    try {
      const text = 'SELECT pg_xact_status($1::xid8) AS status';
      const { rows } = await client.query<{ status: string | null }>(text, [xid]);
      return rows[0]?.status;
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

/** Waits without keeping the process alive. */
export async function quietly(ms: number): Promise<void> {
  await setTimeout(ms, undefined, { ref: false });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function locationOf(url: string): string {
  const parsed = URL.parse(url);
  if (parsed !== null) return `postgres://${parsed.host}${parsed.pathname}`;
  // No host: a socket, and the user before it.
  return url.replace(/^[^:]*:\/\/[^@]*@?/, 'postgres://').replace(/\?.*$/s, '');
}
