import { omitUndefined, importOptional, isModuleNotFound } from '../../core/internal.ts';
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
import type { SessionKey } from '../../core/index.ts';
import type { ChangedSession } from '../server/change-notices.ts';
import { GroupedReads } from './grouped-reads.ts';
import type { Queries, WriteQueries } from './queries.ts';
import { PipelinedTransaction } from './pipelined-transaction.ts';
import { FairSemaphore } from '../server/fair-semaphore.ts';
import { retryStatement, type RetryPolicy } from '../server/retry-statement.ts';
import { describeStoreUrl } from '../rules/describe-store-url.ts';
import type { ReadTransaction, ServerDatabase, WriteOptions } from '../server/server-database.ts';
import type { ServerTables } from '../server/server-tables.ts';
import type { FullRow, NewSession } from '../server/session-row.ts';

export interface DatabaseOptions extends RetryPolicy {
  readonly url: string;
  /** The URL of the server, if `url` names a pooler in transaction mode. Undefined: `url` names the server. */
  readonly listenUrl: string | undefined;
  readonly maxConnections: number;
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** 0: no limit. */
  readonly connectionMaxAgeMs: number;
  readonly tls: boolean | object | undefined;
  readonly failpoints: Failpoints;
  readonly onStatement: ((text: string) => void) | undefined;
  /**
   * The last statement of a transaction that changed sessions. It tells other processes, and returns the transaction id
   * in a column `xid`.
   */
  readonly toNotification: (changed: readonly ChangedSession[]) => ClosingStatement;
}

/** A statement with its parameters. */
export type ClosingStatement = readonly [text: string, values: readonly unknown[]];

/** A closing statement that only returns the transaction id. */
const READ_XID: ClosingStatement = ['SELECT pg_current_xact_id_if_assigned()::text AS xid', []];

/**
 * How long the server waits for a lock. Then the connection is returned to the pool, and the transaction is retried.
 */
const LOCK_TIMEOUT_MS = 250;
const IDLE_IN_TRANSACTION_MS = 60_000;
/** A pooler refuses these settings when a connection opens, and may not undo those that a connection makes later. */
const BEGIN_WITH_SETTINGS = `BEGIN; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`;
/** The reader may be slower than the limits of other transactions. */
const BEGIN_READ =
  'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0';
const INT8 = 20;
/** After this time without an answer the connection counts as lost. */
const QUERY_TIMEOUT_MS = 60_000;

/** The connections of a store: runs statements and transactions, and retries them. */
export class Database implements ServerDatabase<Queries, WriteQueries> {
  /** The URL with host and database only, without user, password and options. */
  readonly location: string;
  readonly #pg: typeof pg;
  readonly #options: DatabaseOptions;
  readonly #pool: pg.Pool;
  /** Queues calls before the pool, because the pool rejects calls that wait long even while others make progress. */
  readonly #connectionSemaphore: FairSemaphore;
  readonly #groupedReads: GroupedReads;
  readonly #names = new Map<string, string>();
  readonly #open = new Set<Promise<unknown>>();
  #closing = false;

  /** @throws MissingPostgresPackageError */
  static async load(options: DatabaseOptions): Promise<Database> {
    const loaded = await importOptional(import('pg'), (cause) =>
      isModuleNotFound(cause) ? new MissingPostgresPackageError({ cause }) : cause,
    );
    return new Database(loaded.default, options);
  }

  private constructor(loaded: typeof pg, options: DatabaseOptions) {
    this.#pg = loaded;
    this.#options = options;
    this.location = describeStoreUrl(options.url);
    this.#pool = new loaded.Pool({
      ...this.#config(options.url),
      max: options.maxConnections,
      idleTimeoutMillis: options.idleTimeoutMs,
      maxLifetimeSeconds: Math.ceil(options.connectionMaxAgeMs / 1000),
      ...(options.listenUrl === undefined && {
        idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
        lock_timeout: LOCK_TIMEOUT_MS,
      }),
      query_timeout: QUERY_TIMEOUT_MS,
      // A transaction sends statements before it has the results of earlier ones.
      pipeline: true,
      // An idle connection does not keep the process alive.
      allowExitOnIdle: true,
    });
    this.#connectionSemaphore = new FairSemaphore(
      options.maxConnections,
      options.connectTimeoutMs,
      () => new StoreUnavailableError('busy', this.location),
    );
    this.#groupedReads = new GroupedReads(async (action) => this.#withClient(action));
    // The pool replaces an idle connection that breaks.
    this.#pool.on('error', () => undefined);
    // The pool listens for errors only while a connection is idle. When one breaks in a transaction, the next statement
    // fails; the error event must not end the process.
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /** Opens a connection to the server, outside the pool. The caller must end it. @throws StoreUnavailableError */
  async connection(): Promise<pg.Client> {
    const { url, listenUrl = url } = this.#options;
    const client = new this.#pg.Client(this.#config(listenUrl));
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch (error) {
      throw toConnectError(error, this.location);
    }
    return client;
  }

  /** Runs one statement. It must be idempotent, because it is repeated when the connection breaks. */
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

  get queries(): Queries {
    return this;
  }

  get readsByKey(): Queries {
    return {
      rows: async <T>(text: string, values: readonly unknown[] = []) =>
        this.#track(async () =>
          this.#retry(async () =>
            this.#groupedReads.read(text, async (client) => this.#query<T>(client, text, values)),
          ),
        ),
      exec: async (text) => this.exec(text),
    };
  }

  async insertSession(
    tables: Pick<ServerTables<Queries, Queries>, 'insertSession'>,
    key: SessionKey,
    init: NewSession,
  ): Promise<FullRow | undefined> {
    return tables.insertSession(this, key, init);
  }

  async beginRead(): Promise<ReadTransaction<Queries>> {
    const client = await this.connection();
    const run = async <T>(text: string, values: readonly unknown[] = []): Promise<readonly T[]> => {
      try {
        this.#options.onStatement?.(text);
        const { rows } = await client.query({ text, values: [...values] });
        return rows as readonly T[];
      } catch (error) {
        throw toStoreError(error, this.location);
      }
    };
    const exec = async (text: string): Promise<void> => void (await run(text));
    const end = async (): Promise<void> => client.end().catch(() => undefined);
    try {
      await exec(BEGIN_READ);
    } catch (error) {
      await end();
      throw error;
    }
    return { queries: { rows: run, exec }, end };
  }

  async write<T>(
    body: (queries: WriteQueries) => Promise<T>,
    options: WriteOptions<T> = {},
  ): Promise<T> {
    return this.#track(async () =>
      this.#retry(async () => this.#tryWrite(body, options), options.waitsForLocks),
    );
  }

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

  /** Accepts no more calls. Resolves when the pending ones are done. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.allSettled(this.#open);
    await this.#pool.end();
  }

  #config(url: string): pg.ClientConfig {
    const { connectTimeoutMs, tls } = this.#options;
    return {
      connectionString: url.replace(/^([a-z]+)\+[a-z0-9_]+:/i, '$1:'),
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      application_name: 'petrichor',
      ...omitUndefined({ ssl: tls }),
      types: {
        // All integers of this store are exact in a double.
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

  /** Takes a connection from the pool. @throws StoreUnavailableError, which is not retried */
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
    const query = { ...this.#toPreparedName(text), text, values: [...values] };
    const { rows } = await client.query(query);
    return rows as readonly T[];
  }

  /** Behind a pooler, the next transaction may be on a connection that has not prepared the statement. */
  #toPreparedName(text: string): { readonly name?: string } {
    if (this.#options.listenUrl !== undefined) return {};
    let name = this.#names.get(text);
    if (name === undefined) {
      name = `petrichor_${this.#names.size}`;
      this.#names.set(text, name);
    }
    return { name };
  }

  async #retry<T>(attempt: () => Promise<T>, waitsForLocks?: boolean): Promise<T> {
    const rules = {
      isLockTimeout,
      isRepeatable: (error: unknown) => isSerializationFailure(error) || isConnectionLost(error),
      toStoreError: (error: unknown) => toStoreError(error, this.location),
    };
    return retryStatement(attempt, this.#options, rules, waitsForLocks);
  }

  async #tryWrite<T>(
    body: (queries: WriteQueries) => Promise<T>,
    { changed = () => [], onInDoubt }: WriteOptions<T>,
  ): Promise<T> {
    const { client, release } = await this.#connect();
    let broken: Error | undefined;
    try {
      const transaction = new PipelinedTransaction(client, async (text, values) =>
        this.#query(client, text, values),
      );
      transaction.begin(this.#options.listenUrl === undefined ? 'BEGIN' : BEGIN_WITH_SETTINGS);
      const result = await body(transaction);
      const sessions = changed(result);
      const [text, values] =
        sessions.length > 0 ? this.#options.toNotification(sessions) : READ_XID;
      const [closing] = await transaction.rows<{ xid: string | null }>(text, values);
      this.#options.failpoints.beforeCommit?.();
      try {
        await client.query('COMMIT');
      } catch (error) {
        if (!isConnectionLost(error)) throw error;
        broken = asError(error);
        await this.#assertCommitted(closing?.xid, error, () =>
          onInDoubt?.(result, closing?.xid ?? ''),
        );
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

  /** @throws the cause when the transaction was not committed, StoreUnavailableError when that is unknown */
  async #assertCommitted(
    xid: string | null | undefined,
    cause: unknown,
    onUnknown: () => void,
  ): Promise<void> {
    // Without an id the transaction wrote nothing.
    if (typeof xid !== 'string') return;
    const committed = await this.isCommitted(xid, cause).catch((error: unknown) => {
      onUnknown();
      throw error;
    });
    if (!committed) throw cause;
  }

  async #readTransactionStatus(xid: string): Promise<string | null | undefined> {
    // A connection outside the pool, because the broken one may be the only one in the pool.
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

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
