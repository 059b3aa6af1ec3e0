import { PetrichorError } from '../../core/errors/petrichor-error.ts';
import { StoreCorruptError, StoreFailedError, StoreUnavailableError } from '../store-errors.ts';
import type { UnavailableReason } from '../store-errors.ts';

/** A PostgreSQL store needs the package `pg`. Nothing was opened: install it. */
export class MissingPostgresPackageError extends PetrichorError {
  override readonly code = 'missing_package' as const;
  readonly packageName = 'pg' as const;

  constructor(options?: { readonly cause?: unknown }) {
    super('A PostgreSQL store needs the package pg: run "npm install pg".', options);
  }
}

/** By SQLSTATE, whole or by its class: what a store may be asked again after. The first that fits counts. */
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
  // A session or a transaction that was idle for longer than the server allows.
  ['25P03', 'io'],
  ['25P04', 'io'],
  ['08', 'io'],
  ['28', 'io'],
  ['3D000', 'io'],
  ['57P', 'io'],
  ['58', 'io'],
];

/** By SQLSTATE, whole or by its class: what says that the tables are not those that this store made. */
const CORRUPT: readonly (readonly [sqlState: string, problem: string])[] = [
  ['XX001', 'has a damaged table'],
  ['XX002', 'has a damaged index'],
  ['42P01', 'lacks a table of the store'],
  ['42703', 'lacks a column of the store'],
  ['3F000', 'lacks the schema of the store'],
];

/** What the client itself says when there is no server, or no longer one. */
const UNREACHABLE =
  /ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ENOENT|EHOSTUNREACH|ENETUNREACH|Connection terminated|connection timeout|Query read timeout|Client has encountered a connection error|Client was closed/i;

/** What the pool says when all its connections are in use for too long. */
const EXHAUSTED = /timeout exceeded when trying to connect/;

/** The error as a caller of a store gets it: every error of the database is one of ours, others pass as they are. */
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

/** Why no connection could be made: whatever it was, there is none. */
export function toConnectError(error: unknown, location: string): unknown {
  if (error instanceof PetrichorError) return error;
  return new StoreUnavailableError(getUnavailableReason(error) ?? 'io', location, { cause: error });
}

/** True when somebody else has a lock that was not waited for, or for long enough. */
export function isLockTimeout(error: unknown): boolean {
  return getSqlState(error) === '55P03';
}

/** True when two writers met in a way that only undoing one of them solves. */
export function isSerializationFailure(error: unknown): boolean {
  const code = getSqlState(error);
  return code === '40P01' || code === '40001';
}

/** True when the connection broke, so that nobody said what became of the statement. */
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
