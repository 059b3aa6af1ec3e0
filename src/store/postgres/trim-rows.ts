import type { RecordSeq } from '../../net/index.ts';
import type { TrimWrites } from '../server/trim-writes.ts';
import type { StepNumber } from '../store.ts';
import type { Queries, WriteQueries } from './queries.ts';

/** Finds the number of the last record of a step. Undefined when there is no such step. */
export async function findLastRecord(
  queries: Queries,
  schema: string,
  session: number,
  step: StepNumber,
): Promise<RecordSeq | undefined> {
  const [row] = await queries.rows<{ last_record: RecordSeq }>(
    `SELECT last_record FROM ${schema}.steps WHERE session = $1 AND step = $2`,
    [session, step],
  );
  return row?.last_record;
}

/** Sends the writes of a trim. */
export function writeTrim(
  queries: WriteQueries,
  schema: string,
  session: number,
  { first, step, base, snapshot, blobs, released, addedBytes }: TrimWrites,
): void {
  queries.add(
    `UPDATE ${schema}.steps SET last_record = 0, lists = false, records = '[]'
     WHERE session = $1 AND step >= $2 AND step < $3`,
    [session, first, step],
  );
  queries.add(
    `UPDATE ${schema}.steps SET lists = true, records = $3 WHERE session = $1 AND step = $2`,
    [session, step, base],
  );
  queries.add(
    `INSERT INTO ${schema}.snapshots AS s (session, step, marking) VALUES ($1, $2, $3)
     ON CONFLICT (session) DO UPDATE SET step = excluded.step, marking = excluded.marking WHERE s.step < excluded.step`,
    [session, step, snapshot],
  );
  if (released.length > 0)
    queries.add(`DELETE FROM ${schema}.blobs WHERE session = $1 AND hash = ANY($2)`, [
      session,
      released,
    ]);
  for (const [hash, text] of blobs)
    queries.add(
      `INSERT INTO ${schema}.blobs (session, hash, bytes) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
      [session, hash, Buffer.from(text, 'utf8')],
    );
  queries.add(`UPDATE ${schema}.sessions SET bytes = greatest(0, bytes + $2) WHERE id = $1`, [
    session,
    addedBytes,
  ]);
}
