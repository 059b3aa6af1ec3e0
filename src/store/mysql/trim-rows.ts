import type { RecordSeq } from '../../net/index.ts';
import type { TrimWrites } from '../server/trim-writes.ts';
import type { StepNumber } from '../store.ts';
import type { TableNames } from './schema.ts';
import type { Reads, Transaction } from './statement.ts';
import { addBlob } from './step-rows.ts';

/** Finds the number of the last record of a step. Undefined when there is no such step. */
export async function findLastRecord(
  queries: Reads,
  t: TableNames,
  session: number,
  step: StepNumber,
): Promise<RecordSeq | undefined> {
  const [row] = await queries.rows<{ last_record: RecordSeq }>(
    `SELECT last_record FROM ${t('steps')} WHERE session = ? AND step = ?`,
    [session, step],
  );
  return row?.last_record;
}

/** Queues the writes of a trim. */
export function writeTrim(
  queries: Transaction,
  t: TableNames,
  session: number,
  { first, step, base, snapshot, blobs, released, addedBytes }: TrimWrites,
): void {
  queries.add(
    `UPDATE ${t('steps')} SET last_record = 0, lists = 0, records = '[]' WHERE session = ? AND step >= ? AND step < ?`,
    [session, first, step],
  );
  queries.add(`UPDATE ${t('steps')} SET lists = 1, records = ? WHERE session = ? AND step = ?`, [
    base,
    session,
    step,
  ]);
  // MySQL sets columns in this order, so the marking is compared with the earlier step.
  queries.add(
    `INSERT INTO ${t('snapshots')} (session, step, marking) VALUES (?, ?, ?)
     ON DUPLICATE KEY UPDATE marking = IF(step < VALUES(step), VALUES(marking), marking),
       step = GREATEST(step, VALUES(step))`,
    [session, step, snapshot],
  );
  if (released.length > 0)
    queries.add(`DELETE FROM ${t('blobs')} WHERE session = ? AND hash IN (?)`, [session, released]);
  for (const [hash, text] of blobs) addBlob(queries, t, { id: session, hash, text });
  queries.add(`UPDATE ${t('sessions')} SET bytes = GREATEST(0, bytes + ?) WHERE id = ?`, [
    addedBytes,
    session,
  ]);
}
