import { InvalidInputError, PetrichorError } from '../../core/index.ts';
import { StoreCorruptError, StoreFailedError, StoreUnavailableError } from '../store-errors.ts';
import type { UnavailableReason } from '../store-errors.ts';

/**
 * A PostgreSQL store was opened, and the package `pg` is not installed.
 * @remedy Run `npm install pg`.
 */
export class MissingPostgresPackageError extends PetrichorError {
  override readonly code = 'missing_package' as const;
  readonly packageName = 'pg' as const;

  constructor(options?: { readonly cause?: unknown }) {
    super('A PostgreSQL store needs the package pg. Run "npm install pg".', options);
  }
}

/** SQLSTATEs, whole or by class, after which the store may be available again. The first match counts. */
const REASONS: readonly (readonly [sqlState: string, reason: UnavailableReason])[] = [
  ['53100', 'full'],
  ['53', 'busy'],
  ['55P03', 'busy'],
  ['55006', 'busy'],
  ['40001', 'busy'],
  ['40P01', 'busy'],
  ['40003', 'io'],
  ['57014', 'canceled'],
  ['25006', 'readonly'],
  ['42501', 'readonly'],
  // A session or transaction that was idle for longer than the server allows.
  ['25P03', 'io'],
  ['25P04', 'io'],
  ['08', 'io'],
  ['28', 'io'],
  ['3D000', 'io'],
  ['57P', 'io'],
  ['58', 'io'],
];

/** SQLSTATEs that show that the tables of the store are damaged or missing. */
const CORRUPT: readonly (readonly [sqlState: string, problem: string])[] = [
  ['XX001', 'has a damaged table'],
  ['XX002', 'has a damaged index'],
  ['42P01', 'lacks a table of the store'],
  ['42703', 'lacks a column of the store'],
  ['3F000', 'lacks the schema of the store'],
];

/** Messages of the client when the server cannot be reached, or the connection is lost. */
const UNREACHABLE =
  /ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ENOENT|EHOSTUNREACH|ENETUNREACH|Connection terminated|connection timeout|Query read timeout|Client has encountered a connection error|Client was closed/i;

/** The message of the pool when no connection becomes free in time. */
const EXHAUSTED = /timeout exceeded when trying to connect/;

/** Converts an error of the database to a store error. Returns any other error unchanged. */
export function toStoreError(error: unknown, location: string): unknown {
  const reason = getUnavailableReason(error);
  if (reason !== undefined) return new StoreUnavailableError(reason, location, { cause: error });
  const sqlState = getSqlState(error);
  if (error instanceof PetrichorError || sqlState === undefined || !/^[0-9A-Z]{5}$/.test(sqlState))
    return error;
  const damage = CORRUPT.find(([code]) => sqlState.startsWith(code));
  return damage === undefined
    ? new StoreFailedError(location, `SQLSTATE ${sqlState}`, { cause: error })
    : new StoreCorruptError(location, damage[1], { cause: error });
}

/** The message of PgBouncer for a setting that it cannot keep. */
const REFUSED_SETTING = /unsupported startup parameter/;

/** Converts an error of connecting to a store error. Any unknown error counts as `io`. */
export function toConnectError(error: unknown, location: string): unknown {
  if (error instanceof PetrichorError) return error;
  if (error instanceof Error && REFUSED_SETTING.test(error.message))
    return new InvalidInputError(
      'listenUrl',
      `is missing: ${location} is a pooler. Pass the URL of the PostgreSQL server behind it as listenUrl, or to "petrichor serve" as --listen-store.`,
    );
  return new StoreUnavailableError(getUnavailableReason(error) ?? 'io', location, { cause: error });
}

/** True when another client held a lock for longer than the lock timeout, or NOWAIT was used. */
export function isLockTimeout(error: unknown): boolean {
  return getSqlState(error) === '55P03';
}

/** True when the server aborted a transaction because of a conflict or deadlock with another one. */
export function isSerializationFailure(error: unknown): boolean {
  const code = getSqlState(error);
  return code === '40P01' || code === '40001';
}

/** True when the connection has no such prepared statement, because an earlier one could not prepare it. */
export function isNotPrepared(error: unknown): boolean {
  return getSqlState(error) === '26000';
}

/** True when the connection broke, so the outcome of the statement is unknown. */
export function isConnectionLost(error: unknown): boolean {
  return getUnavailableReason(error) === 'io';
}

function getUnavailableReason(error: unknown): UnavailableReason | undefined {
  if (error instanceof PetrichorError || !(error instanceof Error)) return undefined;
  const code = getSqlState(error);
  const known = REASONS.find(([sqlState]) => code?.startsWith(sqlState) === true);
  if (known !== undefined) return known[1];
  const parts = error instanceof AggregateError ? error.errors : [error];
  const messages = parts.map((part) => `${getSqlState(part)} ${String(part)}`).join(' ');
  if (EXHAUSTED.test(messages)) return 'busy';
  return UNREACHABLE.test(messages) ? 'io' : undefined;
}

function getSqlState(error: unknown): string | undefined {
  return typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    typeof error.code === 'string'
    ? error.code
    : undefined;
}
