import { createHash } from 'node:crypto';
import { LOCK_ROWS, type TableNames } from './schema.ts';
import type { Transaction } from './statement.ts';

/**
 * Locks names until the transaction ends, in one order in every transaction. Names that may not exist yet have no row to
 * lock, so each name has one of a fixed number of rows.
 */
export async function lockSlots(
  queries: Transaction,
  t: TableNames,
  names: readonly string[],
): Promise<void> {
  const slots = new Set(
    names.map((name) => createHash('sha256').update(name).digest().readUInt16BE(0) % LOCK_ROWS),
  );
  // One statement for each, because the rows of one statement are locked in the order of its plan.
  await queries.several(
    [...slots]
      .toSorted((one, other) => one - other)
      .map((slot) => [`SELECT slot FROM ${t('locks')} WHERE slot = ? FOR UPDATE`, [slot]] as const),
  );
}
