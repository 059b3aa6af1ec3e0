import type { OwnerRow } from '../server/owner-failure-detector.ts';
import type { OwnerId } from '../store.ts';
import type { MysqlDatabase } from './database.ts';
import { serverLockName } from './migrate.ts';
import type { SqlStatement } from './statement.ts';

/** The names of the locks of one prefix, and the statement that reads the owners with their locks. */
export interface OwnerLocks {
  readonly name: (lock: number) => string;
  readonly read: SqlStatement;
}

export interface StoredOwner {
  readonly name: OwnerId;
  readonly lock: number;
  readonly held: number;
  /** 1: the lock of the reading process is held. */
  readonly here: number;
}

/** @param presence the lock of this process */
export function ownerLocks(
  database: Pick<MysqlDatabase, 'name'>,
  prefix: string,
  presence: number,
): OwnerLocks {
  const name = (lock: number): string => serverLockName(database.name, prefix, lock);
  const [first = ''] = name(0).split(/0$/);
  return {
    name,
    read: [
      `SELECT name, lock_no AS \`lock\`, IS_USED_LOCK(CONCAT(?, lock_no)) IS NOT NULL AS held,
         IS_USED_LOCK(?) IS NOT NULL AS here FROM \`${prefix}_owners\``,
      [first, name(presence)],
    ],
  };
}

/**
 * Converts the rows of `OwnerLocks.read`. If the lock of this process is not held, its connection has ended. The server
 * may have restarted, so it counts as just started.
 */
export function toOwnerRows(rows: readonly unknown[]): readonly OwnerRow[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns of the statement
  return (rows as readonly StoredOwner[]).map(({ name, lock, held, here }) => ({
    name,
    lock,
    held: held === 1,
    uptimeMs: here === 1 ? Number.POSITIVE_INFINITY : 0,
  }));
}
