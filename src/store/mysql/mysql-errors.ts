import { PetrichorError } from '../../core/index.ts';
import { StoreCorruptError, StoreFailedError, StoreUnavailableError } from '../store-errors.ts';
import type { UnavailableReason } from '../store-errors.ts';

/**
 * A MySQL or MariaDB store was opened, and the package `mysql2` is not installed.
 * @remedy Run `npm install mysql2`.
 */
export class MissingMysqlPackageError extends PetrichorError {
  override readonly code = 'missing_package' as const;
  readonly packageName = 'mysql2' as const;

  constructor(options?: { readonly cause?: unknown }) {
    super('A MySQL or MariaDB store needs the package mysql2. Run "npm install mysql2".', options);
  }
}

/** Error numbers of MySQL and MariaDB after which the store may be available again. */
const REASONS: ReadonlyMap<number, UnavailableReason> = new Map([
  // Disk full, file full, temporary space full.
  ...([1021, 1114, 1041] as const).map((errno) => [errno, 'full'] as const),
  // Lock timeout, lock not available, deadlock, record changed, too many connections, limits of a user.
  ...([1205, 3572, 1213, 1020, 1040, 1203, 1226] as const).map((errno) => [errno, 'busy'] as const),
  // Interrupted, statement timeout of MySQL and of MariaDB.
  ...([1317, 3024, 1969] as const).map((errno) => [errno, 'canceled'] as const),
  // Read-only server or transaction, missing privileges.
  ...([1290, 1836, 1792, 1142, 1143, 1044] as const).map((errno) => [errno, 'readonly'] as const),
  // Access denied, unknown database, shutdown, killed or idle connection, network errors of the server.
  ...(
    [
      1045, 1698, 1049, 1053, 1077, 1079, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 4031, 1047,
    ] as const
  ).map((errno) => [errno, 'io'] as const),
]);

/** Error numbers that show that the tables of the store are damaged or missing. */
const CORRUPT: ReadonlyMap<number, string> = new Map([
  [1146, 'lacks a table of the store'],
  [1054, 'lacks a column of the store'],
  [1034, 'has a damaged index'],
  [1712, 'has a damaged index'],
  [1194, 'has a damaged table'],
  [1195, 'has a damaged table'],
  [1877, 'has a damaged table'],
]);

/** Codes and messages of the client when the server cannot be reached, or the connection is lost. */
const UNREACHABLE =
  /ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ENOENT|EHOSTUNREACH|ENETUNREACH|ERR_STREAM|PROTOCOL_CONNECTION_LOST|PROTOCOL_SEQUENCE_TIMEOUT|HANDSHAKE_|closed state|Connection lost/i;

/** Converts an error of the database to a store error. Returns any other error unchanged. */
export function toStoreError(error: unknown, location: string): unknown {
  const reason = getUnavailableReason(error);
  if (reason !== undefined) return new StoreUnavailableError(reason, location, { cause: error });
  const errno = getErrno(error);
  if (error instanceof PetrichorError || errno === undefined) return error;
  const damage = CORRUPT.get(errno);
  return damage === undefined
    ? new StoreFailedError(location, `${errno}`, { cause: error })
    : new StoreCorruptError(location, damage, { cause: error });
}

/** Converts an error of connecting to a store error. Any unknown error counts as `io`. */
export function toConnectError(error: unknown, location: string): unknown {
  if (error instanceof PetrichorError) return error;
  return new StoreUnavailableError(getUnavailableReason(error) ?? 'io', location, { cause: error });
}

/** True when another client held a lock for longer than the lock timeout, or NOWAIT was used. */
export function isLockTimeout(error: unknown): boolean {
  const errno = getErrno(error);
  return errno === 1205 || errno === 3572;
}

/** True when the server aborted a transaction because of a conflict or deadlock with another one. */
export function isSerializationFailure(error: unknown): boolean {
  const errno = getErrno(error);
  return errno === 1213 || errno === 1020;
}

/** True when a unique index has the row already. */
export function isDuplicate(error: unknown): boolean {
  return getErrno(error) === 1062;
}

/** True when the connection broke, so the outcome of the statement is unknown. */
export function isConnectionLost(error: unknown): boolean {
  return getUnavailableReason(error) === 'io';
}

function getUnavailableReason(error: unknown): UnavailableReason | undefined {
  if (error instanceof PetrichorError || !(error instanceof Error)) return undefined;
  const known = REASONS.get(getErrno(error) ?? 0);
  if (known !== undefined) return known;
  const parts = error instanceof AggregateError ? error.errors : [error];
  const isUnreachable = parts.some(
    (part) => UNREACHABLE.test(getCode(part)) || UNREACHABLE.test(String(part)),
  );
  return isUnreachable && !isServerError(error) ? 'io' : undefined;
}

/** The message of an error of the server may quote anything. */
function isServerError(error: object): boolean {
  return 'sqlState' in error && typeof error.sqlState === 'string';
}

function getErrno(error: unknown): number | undefined {
  return typeof error === 'object' &&
    error !== null &&
    'errno' in error &&
    typeof error.errno === 'number' &&
    error.errno > 0
    ? error.errno
    : undefined;
}

function getCode(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
