import type { Connection, ConnectionOptions, RowDataPacket } from 'mysql2/promise';
import { newSessionUid, type SessionKey } from '../../core/index.ts';
import { importOptional, isModuleNotFound, omitUndefined } from '../../core/internal.ts';
import type { Failpoints } from '../failpoints.ts';
import { toNoticePayloads, type ChangedSession } from '../server/change-notices.ts';
import { FairSemaphore } from '../server/fair-semaphore.ts';
import { retryStatement, type RetryPolicy, type RetryRules } from '../server/retry-statement.ts';
import type { ReadTransaction, ServerDatabase, WriteOptions } from '../server/server-database.ts';
import type { ServerTables } from '../server/server-tables.ts';
import type { FullRow, NewSession } from '../server/session-row.ts';
import { StoreClosedError, StoreUnavailableError } from '../store-errors.ts';
import { ConnectionPool } from './connection-pool.ts';
import type { PooledConnection } from './connection-pool.ts';
import { destroyConnection, queryInTime } from './connection-socket.ts';
import { parseMysqlUrl, type MysqlAddress } from './connection-settings.ts';
import {
  isConnectionLost,
  isDuplicate,
  isLockTimeout,
  isSerializationFailure,
  MissingMysqlPackageError,
  toConnectError,
  toStoreError,
} from './mysql-errors.ts';
import type { TableNames } from './schema.ts';
import { CHANGE_NUMBER, type Reads, type SqlStatement, type Transaction } from './statement.ts';
import { StatementBatch } from './statement-batch.ts';

export interface MysqlDatabaseOptions extends RetryPolicy {
  readonly url: string;
  readonly tables: TableNames;
  /** The `writer` in the notices of this store object. */
  readonly writer: string;
  readonly maxConnections: number;
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** 0: no limit. */
  readonly connectionMaxAgeMs: number;
  readonly tls: boolean | object | undefined;
  readonly failpoints: Failpoints;
  readonly onStatement: ((text: string) => void) | undefined;
}

/** A connection outside the pool, and how to end it. */
export interface OwnConnection {
  readonly connection: Connection;
  readonly end: () => Promise<void>;
}

/** The settings of every connection. The texts of statements are escaped for this `sql_mode`. */
const SESSION_SETTINGS = [
  "SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'",
  'SET SESSION innodb_lock_wait_timeout = 1',
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  'SET SESSION autocommit = 1',
  'SET NAMES utf8mb4 COLLATE utf8mb4_bin',
].join('; ');
/** The reader may be slower than the limits of other connections. */
const BEGIN_READ = [
  'SET SESSION wait_timeout = 28800',
  'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ',
  'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY',
].join('; ');
/** The server ends a connection that is silent for so long, and so releases its locks. */
const SILENCE_S = 60;
/** After this time without an answer the connection counts as lost. */
const QUERY_TIMEOUT_MS = 60_000;
/** How long a commit can be found by its id, in seconds. */
const COMMITS_KEPT_S = 3600;
/** After this many commits of all processes, one of them deletes old entries. */
const COMMITS_PER_SWEEP = 128;

/** The connections of a store: runs statements and transactions, and retries them. */
export class MysqlDatabase implements ServerDatabase<Reads, Transaction> {
  readonly location: string;
  /** The name of the database. */
  readonly name: string;
  readonly #options: MysqlDatabaseOptions;
  readonly #address: MysqlAddress;
  readonly #create: (options: ConnectionOptions) => Promise<Connection>;
  readonly #pool: ConnectionPool;
  readonly #connectionSemaphore: FairSemaphore;
  readonly #open = new Set<Promise<unknown>>();
  readonly #rules: RetryRules;
  #closing = false;

  /** @throws MissingMysqlPackageError, UnsupportedStoreUrlError */
  static async load(options: MysqlDatabaseOptions): Promise<MysqlDatabase> {
    const address = parseMysqlUrl(options.url);
    const mysql = await importOptional(import('mysql2/promise'), (cause) =>
      isModuleNotFound(cause) ? new MissingMysqlPackageError({ cause }) : cause,
    );
    return new MysqlDatabase(options, address, async (config) => mysql.createConnection(config));
  }

  private constructor(
    options: MysqlDatabaseOptions,
    address: MysqlAddress,
    create: (options: ConnectionOptions) => Promise<Connection>,
  ) {
    this.#options = options;
    this.#address = address;
    this.#create = create;
    this.location = address.location;
    this.name = address.database;
    const { idleTimeoutMs, connectionMaxAgeMs, now } = options;
    const open = async (): Promise<Connection> => this.#connect();
    this.#pool = new ConnectionPool({ open, idleTimeoutMs, connectionMaxAgeMs, now });
    this.#connectionSemaphore = new FairSemaphore(
      options.maxConnections,
      options.connectTimeoutMs,
      () => new StoreUnavailableError('busy', this.location),
    );
    this.#rules = {
      isLockTimeout,
      isRepeatable: (error) => isSerializationFailure(error) || isConnectionLost(error),
      toStoreError: (error) => toStoreError(error, this.location),
    };
  }

  get readsByKey(): Reads {
    return this.queries;
  }

  get queries(): Reads {
    return {
      rows: async <T>(text: string, values: SqlStatement[1]) =>
        this.#read(async (batch) => batch.rows<T>(text, values)),
      several: async (statements) => this.#read(async (batch) => batch.several(statements)),
    };
  }

  /** Opens a connection outside the pool. @throws StoreUnavailableError */
  async connection(): Promise<OwnConnection> {
    const connection = await this.#connect();
    return {
      connection,
      end: async () => connection.end().catch(() => destroyConnection(connection)),
    };
  }

  async insertSession(
    tables: ServerTables<Reads, Transaction>,
    key: SessionKey,
    init: NewSession,
  ): Promise<FullRow | undefined> {
    return this.write(async (queries) => tables.insertSession(queries, key, init));
  }

  async beginRead(): Promise<ReadTransaction<Reads>> {
    const { connection, end } = await this.connection();
    const attempt = async <T>(action: () => Promise<T>): Promise<T> => {
      try {
        return await action();
      } catch (error) {
        throw toStoreError(error, this.location);
      }
    };
    try {
      await attempt(async () => connection.query(BEGIN_READ));
    } catch (error) {
      await end();
      throw error;
    }
    const batch = this.#batch(connection);
    const queries: Reads = {
      rows: async <T>(text: string, values: SqlStatement[1]) =>
        attempt(async () => batch.rows<T>(text, values)),
      several: async (statements) => attempt(async () => batch.several(statements)),
    };
    return { queries, end };
  }

  async write<T>(
    body: (queries: Transaction) => Promise<T>,
    options: WriteOptions<T> = {},
  ): Promise<T> {
    const attempt = async (): Promise<T> => this.#tryWrite(body, options);
    return this.#track(async () =>
      retryStatement(attempt, this.#options, this.#rules, options.waitsForLocks),
    );
  }

  async isCommitted(id: string, cause?: unknown): Promise<boolean> {
    const { busyMs, sleep } = this.#options;
    for (let waitedMs = 0, pauseMs = 20; ; waitedMs += pauseMs, pauseMs *= 2) {
      try {
        return await this.#readOutcome(id);
      } catch (error) {
        const isUnknown =
          error instanceof StoreUnavailableError ||
          isConnectionLost(error) ||
          isLockTimeout(error) ||
          isSerializationFailure(error);
        if (!isUnknown) throw toStoreError(error, this.location);
      }
      if (waitedMs >= busyMs) throw new StoreUnavailableError('io', this.location, { cause });
      await sleep(pauseMs);
    }
  }

  async close(): Promise<void> {
    this.#closing = true;
    await Promise.allSettled(this.#open);
    await this.#pool.close();
  }

  async #connect(): Promise<Connection> {
    const { connectTimeoutMs, tls, idleTimeoutMs } = this.#options;
    let connection: Connection | undefined;
    try {
      connection = await this.#create({
        ...this.#address.settings,
        ...omitUndefined({ ssl: tls === true ? {} : tls === false ? undefined : tls }),
        connectTimeout: connectTimeoutMs,
        charset: 'utf8mb4_bin',
        multipleStatements: true,
        decimalNumbers: true,
        // Without FOUND_ROWS, a write reports the rows that it changed.
        flags: ['-FOUND_ROWS', '-LOCAL_FILES'],
        typeCast: toValue,
      });
      // A connection that breaks fails its next statement; the error event must not end the process.
      connection.on('error', () => undefined);
      const silenceS = Math.max(SILENCE_S, Math.ceil((2 * idleTimeoutMs) / 1000));
      const settings = [
        SESSION_SETTINGS,
        `SET SESSION wait_timeout = ${silenceS}`,
        ...(this.#address.isReadOnly ? ['SET SESSION TRANSACTION READ ONLY'] : []),
      ];
      await connection.query(settings.join('; '));
      return connection;
    } catch (error) {
      if (connection !== undefined) destroyConnection(connection);
      throw toConnectError(error, this.location);
    }
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

  async #read<T>(action: (batch: StatementBatch) => Promise<T>): Promise<T> {
    const attempt = async (): Promise<T> => {
      const { connection, release } = await this.#acquire();
      let isBroken = false;
      try {
        return await action(this.#batch(connection));
      } catch (error) {
        isBroken = isConnectionLost(error);
        throw error;
      } finally {
        release(isBroken);
      }
    };
    return this.#track(async () => retryStatement(attempt, this.#options, this.#rules));
  }

  /** Takes a connection. @throws StoreUnavailableError, which is not retried */
  async #acquire(): Promise<PooledConnection> {
    const leave = await this.#connectionSemaphore.acquire();
    try {
      const { connection, release } = await this.#pool.acquire();
      return {
        connection,
        release: (isBroken) => {
          release(isBroken);
          leave();
        },
      };
    } catch (error) {
      leave();
      throw error;
    }
  }

  #batch(connection: Connection): StatementBatch {
    return new StatementBatch(
      async (sql) => queryInTime(connection, sql, QUERY_TIMEOUT_MS),
      (text, values) => connection.format(text, [...values]),
      this.#options.onStatement,
    );
  }

  async #tryWrite<T>(
    body: (queries: Transaction) => Promise<T>,
    { changed = () => [], onInDoubt }: WriteOptions<T>,
  ): Promise<T> {
    const { connection, release } = await this.#acquire();
    const batch = this.#batch(connection);
    const id = newSessionUid();
    let isBroken = false;
    try {
      batch.add('START TRANSACTION');
      const result = await body(batch);
      const isEmpty = !batch.hasWritten;
      const number = isEmpty ? 0 : this.#addClosing(batch, id, changed(result));
      this.#options.failpoints.beforeCommit?.();
      batch.add('COMMIT');
      try {
        const results = await batch.flush();
        this.#sweepAfter(readNumber(results[number]));
      } catch (error) {
        if (!isConnectionLost(error)) throw error;
        isBroken = true;
        if (!isEmpty) await this.#assertCommitted(id, error, () => onInDoubt?.(result, id));
      }
      this.#options.failpoints.afterCommit?.();
      return result;
    } catch (error) {
      isBroken ||= isConnectionLost(error);
      if (!isBroken)
        await connection.query('ROLLBACK').catch(() => {
          isBroken = true;
        });
      throw error;
    } finally {
      release(isBroken);
    }
  }

  /**
   * Queues the last statements of a transaction. The row of the counter is locked while the server runs them, and no
   * longer, because they and the commit are one message. So commits are numbered in the order in which they become
   * visible. Returns the index of the statement that returns the number.
   */
  #addClosing(batch: StatementBatch, id: string, changed: readonly ChangedSession[]): number {
    const { tables: t, writer } = this.#options;
    const [payload = null] =
      changed.length === 0 ? [] : toNoticePayloads(writer, changed, Number.POSITIVE_INFINITY);
    batch.sendTogether();
    batch.add(`UPDATE ${t('counter')} SET n = LAST_INSERT_ID(n + 1) WHERE id = 1`);
    batch.addAllNumbered();
    batch.add(
      `INSERT INTO ${t('commits')} (n, tx, at, payload) VALUES (${CHANGE_NUMBER}, ?, UNIX_TIMESTAMP(), ?)`,
      [id, payload],
    );
    return batch.add(`SELECT ${CHANGE_NUMBER} AS n`);
  }

  /** @throws the cause when the transaction was not committed, StoreUnavailableError when that is unknown */
  async #assertCommitted(id: string, cause: unknown, onUnknown: () => void): Promise<void> {
    const committed = await this.isCommitted(id, cause).catch((error: unknown) => {
      onUnknown();
      throw error;
    });
    if (!committed) throw cause;
  }

  /**
   * Inserts the id of the transaction, as the transaction itself does. The server then knows the outcome: the id is
   * there, so the transaction was committed; it is locked, so the transaction still runs; or it was not there, and now
   * keeps the transaction from being committed later. The number of such a row is negative.
   */
  async #readOutcome(id: string): Promise<boolean> {
    // A connection outside the pool, because the broken one may be the only one in the pool.
    const { connection, end } = await this.connection();
    const t = this.#options.tables('commits');
    try {
      const n = -Math.ceil(Math.random() * Number.MAX_SAFE_INTEGER);
      const sql = `INSERT INTO ${t} (n, tx, at) VALUES (?, ?, UNIX_TIMESTAMP())`;
      await queryInTime(connection, connection.format(sql, [n, id]), QUERY_TIMEOUT_MS);
      return false;
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      const [rows] = await connection.query<RowDataPacket[]>(`SELECT n FROM ${t} WHERE tx = ?`, [
        id,
      ]);
      return Number(rows[0]?.['n']) > 0;
    } finally {
      await end();
    }
  }

  /** Deletes old entries of commits now and then. */
  #sweepAfter(number: number): void {
    if (number === 0 || number % COMMITS_PER_SWEEP !== 0) return;
    const sweep = async (): Promise<void> => {
      const { connection, release } = await this.#acquire();
      let isBroken = false;
      try {
        await connection.query(
          `DELETE FROM ${this.#options.tables('commits')} WHERE at < UNIX_TIMESTAMP() - ${COMMITS_KEPT_S} AND n < ? LIMIT 1000`,
          [number],
        );
      } catch (error) {
        isBroken = isConnectionLost(error);
      } finally {
        release(isBroken);
      }
    };
    if (!this.#closing) void this.#track(sweep).catch(() => undefined);
  }
}

interface Field {
  readonly type: string;
  readonly name: string;
  buffer(): Buffer | null;
  string(encoding?: BufferEncoding): string | null;
}

/** Ids are stored as bytes, and read as text. Only the column `bytes` stays as it is. */
function toValue(field: Field, next: () => unknown): unknown {
  if (field.name === 'bytes') return field.buffer();
  const isText = /CHAR|STRING|BLOB/.test(field.type);
  return isText ? field.string('utf8') : next();
}

function readNumber(result: unknown): number {
  const [row] = Array.isArray(result) ? (result as readonly { readonly n?: number }[]) : [];
  return row?.n ?? 0;
}
