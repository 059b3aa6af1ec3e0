import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import { StoreClosedError, StoreUnavailableError } from '../store-errors.ts';
import type { Failpoints } from '../failpoints.ts';
import {
  isConnectionLost,
  isLockTimeout,
  isSerializationFailure,
  MissingPostgresPackageError,
  toConnectError,
  toStoreError,
} from './postgres-errors.ts';
import { FairSemaphore } from './fair-semaphore.ts';

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
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
  readonly failpoints: Failpoints;
  readonly onStatement: ((text: string) => void) | undefined;
}

/** How a transaction is signed, and who hears that its end is not known. */
export interface WriteOptions<T> {
  /** Said last in the transaction. Names it in a column `xid`, which is null when nothing was written. */
  readonly closingStatement?: (result: T) => ClosingStatement;
  /** Gets what a transaction would have resolved with, and its name, when nobody can say whether it was committed. */
  readonly onInDoubt?: (result: T, xid: string) => void;
  /** False when a lock of somebody else is a reason to give up at once. */
  readonly waitsForLocks?: boolean;
}

/** A statement with its parameters. */
export type ClosingStatement = readonly [text: string, values: readonly unknown[]];

/** Names the transaction and says nothing else. */
export const READ_XID: ClosingStatement = [
  'SELECT pg_current_xact_id_if_assigned()::text AS xid',
  [],
];

const MAX_ATTEMPTS = 5;
/** How long the server waits for a lock. Then its connection is given back, and the lock is tried for again. */
const LOCK_TIMEOUT_MS = 250;
const MAX_BACKOFF_MS = 100;
const INT8 = 20;
const IDLE_IN_TRANSACTION_MS = 60_000;
/** A statement without an answer for so long means that the connection is gone and nobody said so. */
const QUERY_TIMEOUT_MS = 60_000;

/** The connections of a store, and what is said over them. */
export class Database {
  /** Host and database, without what is secret. */
  readonly location: string;
  readonly #pg: typeof pg;
  readonly #options: DatabaseOptions;
  readonly #pool: pg.Pool;
  /** Before the pool, whose own queue would refuse who waits for long, also while it moves. */
  readonly #connectionSemaphore: FairSemaphore;
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
    this.location = toLocation(options.url);
    this.#pool = new loaded.Pool({
      ...this.#config(),
      max: options.maxConnections,
      idleTimeoutMillis: options.idleTimeoutMs,
      maxLifetimeSeconds: Math.ceil(options.connectionMaxAgeMs / 1000),
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      // An idle connection keeps no process alive.
      allowExitOnIdle: true,
    });
    this.#connectionSemaphore = new FairSemaphore(
      options.maxConnections,
      options.connectTimeoutMs,
      () => new StoreUnavailableError('busy', this.location),
    );
    // A connection that breaks while nobody uses it is replaced by the next one.
    this.#pool.on('error', () => undefined);
    // The pool listens only while it has the connection. One that breaks in a transaction fails the next statement, and
    // must not end the process.
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /** A connection outside the pool, connected. The caller ends it. */
  async connection(): Promise<pg.Client> {
    const client = new this.#pg.Client(this.#config());
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch (error) {
      throw toConnectError(error, this.location);
    }
    return client;
  }

  /** One statement, which must do no harm when it is done twice: it is repeated when its connection breaks. */
  async rows<T>(text: string, values: readonly unknown[] = []): Promise<readonly T[]> {
    return this.#track(async () =>
      this.#retry(async () =>
        this.#withClient(async (client) => this.#query<T>(client, text, values)),
      ),
    );
  }

  async exec(text: string): Promise<void> {
    await this.#track(async () =>
      this.#retry(async () => this.#withClient(async (client) => client.query(text))),
    );
  }

  /**
   * Runs `body` in a transaction and resolves with its result when that is durable; what it throws undoes the
   * transaction. `body` may run several times: it is repeated when writers met, or when the connection broke before the
   * commit. When the connection breaks in the commit, the server is asked what became of the transaction.
   * @throws StoreUnavailableError
   */
  async write<T>(
    body: (queries: Queries) => Promise<T>,
    options: WriteOptions<T> = {},
  ): Promise<T> {
    return this.#track(async () =>
      this.#retry(async () => this.#tryWrite(body, options), options.waitsForLocks),
    );
  }

  /** Whether a transaction was committed of which nobody heard the end. @throws StoreUnavailableError when it stays unknown */
  async isCommitted(xid: string, cause?: unknown): Promise<boolean> {
    const { busyMs, sleep } = this.#options;
    for (let waitedMs = 0, pauseMs = 20; ; waitedMs += pauseMs, pauseMs *= 2) {
      const status = await this.#readTransactionStatus(xid).catch((error: unknown) => {
        if (error instanceof StoreUnavailableError || isConnectionLost(error)) return 'unknown';
        throw toStoreError(error, this.location);
      });
      if (status === 'committed') return true;
      if (status === 'aborted') return false;
      if (waitedMs >= busyMs) throw new StoreUnavailableError('io', this.location, { cause });
      await sleep(pauseMs);
    }
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

  async #track<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closing) throw new StoreClosedError();
    const done = call();
    this.#open.add(done);
    try {
      return await done;
    } finally {
      this.#open.delete(done);
    }
  }

  /** A connection of the pool, new when none is free. @throws StoreUnavailableError, which is not worth an immediate repetition */
  async #connect(): Promise<{
    readonly client: pg.PoolClient;
    readonly release: (broken: Error | undefined) => void;
  }> {
    const leave = await this.#connectionSemaphore.acquire();
    try {
      const client = await this.#pool.connect();
      const release = (broken: Error | undefined): void => {
        client.release(broken);
        leave();
      };
      return { client, release };
    } catch (error) {
      leave();
      throw toConnectError(error, this.location);
    }
  }

  async #withClient<T>(action: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const { client, release } = await this.#connect();
    let broken: Error | undefined;
    try {
      return await action(client);
    } catch (error) {
      if (isConnectionLost(error)) broken = asError(error);
      throw error;
    } finally {
      release(broken);
    }
  }

  async #query<T>(
    client: pg.PoolClient,
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

  /** Repeats what writers that met, a lock of somebody else, or a connection that broke, left undone. */
  async #retry<T>(attempt: () => Promise<T>, waitsForLocks = true): Promise<T> {
    const { now, sleep, busyMs } = this.#options;
    const startedAt = now();
    let sleptMs = 0;
    for (let tries = 1, waits = 0; ;) {
      try {
        return await attempt();
      } catch (error) {
        const isOver = Math.max(sleptMs, now() - startedAt) >= busyMs;
        if (isLockTimeout(error) && waitsForLocks && !isOver) {
          // Without a connection meanwhile: others need it, and do not wait for this lock.
          const pauseMs = Math.ceil(
            Math.min(MAX_BACKOFF_MS, 2 ** waits++) * (0.5 + Math.random() / 2),
          );
          sleptMs += pauseMs;
          await sleep(pauseMs);
        } else if (
          tries++ === MAX_ATTEMPTS ||
          !(isSerializationFailure(error) || isConnectionLost(error))
        )
          throw toStoreError(error, this.location);
      }
    }
  }

  async #tryWrite<T>(
    body: (queries: Queries) => Promise<T>,
    { closingStatement = () => READ_XID, onInDoubt }: WriteOptions<T>,
  ): Promise<T> {
    const { client, release } = await this.#connect();
    let broken: Error | undefined;
    try {
      await client.query('BEGIN');
      const rows: Queries['rows'] = async (text, values = []) => this.#query(client, text, values);
      const exec = async (text: string): Promise<void> => void (await client.query(text));
      const result = await body({ rows, exec });
      const [text, values] = closingStatement(result);
      const [named] = await rows<{ xid: string | null }>(text, values);
      this.#options.failpoints.beforeCommit?.();
      try {
        await client.query('COMMIT');
      } catch (error) {
        if (!isConnectionLost(error)) throw error;
        broken = asError(error);
        await this.#assertCommitted(named?.xid, error, () => onInDoubt?.(result, named?.xid ?? ''));
      }
      this.#options.failpoints.afterCommit?.();
      return result;
    } catch (error) {
      if (isConnectionLost(error)) broken ??= asError(error);
      if (broken === undefined) {
        await client.query('ROLLBACK').catch((failed: unknown) => {
          broken = asError(failed);
        });
      }
      throw error;
    } finally {
      release(broken);
    }
  }

  /** @throws the cause when nothing was written, StoreUnavailableError when nobody knows */
  async #assertCommitted(
    xid: string | null | undefined,
    cause: unknown,
    onUnknown: () => void,
  ): Promise<void> {
    // Without a number it wrote nothing that could be lost.
    if (typeof xid !== 'string') return;
    const committed = await this.isCommitted(xid, cause).catch((error: unknown) => {
      onUnknown();
      throw error;
    });
    if (!committed) throw cause;
  }

  async #readTransactionStatus(xid: string): Promise<string | null | undefined> {
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
export async function unrefDelay(ms: number): Promise<void> {
  await setTimeout(ms, undefined, { ref: false });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function toLocation(url: string): string {
  const parsed = URL.parse(url);
  if (parsed !== null) return `postgres://${parsed.host}${parsed.pathname}`;
  // No host: a socket, and the user before it.
  return url.replace(/^[^:]*:\/\/[^@]*@?/, 'postgres://').replace(/\?.*$/s, '');
}
