import { PetrichorError } from '../../../core/index.ts';
import {
  StoreCorruptError,
  StoreFailedError,
  StoreUnavailableError,
  type UnavailableReason,
} from '../../store-errors.ts';

// Primary result codes of SQLite: https://www.sqlite.org/rescode.html
const BUSY = 5;
const PROTOCOL = 15;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;
/** An extended code: the file is shorter than the database. */
const SHORT_READ = 522;

const UNAVAILABLE: ReadonlyMap<number, UnavailableReason> = new Map([
  [BUSY, 'busy'],
  [6, 'busy'],
  [PROTOCOL, 'busy'],
  [9, 'canceled'],
  [3, 'readonly'],
  [8, 'readonly'],
  // 7: out of memory. 13: no space on the disk.
  [7, 'full'],
  [10, 'io'],
  [13, 'full'],
  [14, 'io'],
]);

/** True when another connection holds the lock. The same statement may succeed a moment later. */
export function isBusy(error: unknown): boolean {
  return UNAVAILABLE.get(getPrimaryCode(error)) === 'busy';
}

/** Converts an error of SQLite to a store error. Returns any other error unchanged. */
export function toStoreError(error: unknown, file: string): unknown {
  if (error instanceof PetrichorError) return error;
  const primary = getPrimaryCode(error);
  if (getResultCode(error) === SHORT_READ || primary === CORRUPT) {
    return new StoreCorruptError(file, 'is damaged', { cause: error });
  }
  if (primary === NOT_A_DATABASE) {
    return new StoreCorruptError(file, 'is not a database', { cause: error });
  }
  const reason = UNAVAILABLE.get(primary);
  if (reason !== undefined) return new StoreUnavailableError(reason, file, { cause: error });
  return primary === 0
    ? error
    : new StoreFailedError(file, `SQLite ${getResultCode(error)}`, { cause: error });
}

function getPrimaryCode(error: unknown): number {
  return getResultCode(error) & 0xff;
}

function getResultCode(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode
    : 0;
}
