import type { SessionKey } from '../../core/index.ts';
import { STEPS_PER_PAGE } from '../encoding/numbered-items.ts';
import type { JournalPageRow, JournalRange } from '../server/journal-reader.ts';
import { toKeyParameters } from '../server/session-row.ts';
import type { StepNumber } from '../store.ts';
import type { Queries } from './queries.ts';

const CONDITIONS: Readonly<Record<JournalRange['select'], string>> = {
  steps: 'step > $4',
  lists: 'lists AND step > $4 AND last_record >= $5',
  events: 'last_event > $4',
};

/** Reads the ends of a session's journal and a page of its steps in one statement. */
export async function readJournalPage(
  queries: Queries,
  schema: string,
  key: SessionKey,
  range: JournalRange,
): Promise<readonly JournalPageRow[]> {
  const values = range.select === 'lists' ? [range.after, range.fromRecord] : [range.after];
  return queries.rows<JournalPageRow>(
    `SELECT s.id, s.uid, s.head, s.last_seq, t.* FROM ${schema}.sessions AS s LEFT JOIN LATERAL (
         SELECT step, at, last_record, last_event, records, events FROM ${schema}.steps
         WHERE session = s.id AND ${CONDITIONS[range.select]} ORDER BY step LIMIT ${STEPS_PER_PAGE}) AS t ON true
       WHERE s.app = $1 AND s.user_id = $2 AND s.name = $3 ORDER BY t.step`,
    [...toKeyParameters(key), ...values],
  );
}

export async function readSnapshot(
  queries: Queries,
  schema: string,
  session: number,
): Promise<{ readonly step: StepNumber; readonly marking: string } | undefined> {
  const [row] = await queries.rows<{ step: StepNumber; marking: string }>(
    `SELECT step, marking FROM ${schema}.snapshots WHERE session = $1`,
    [session],
  );
  return row;
}

/** Reads long strings by hash. Undefined when there is no such session. */
export async function readBlobs(
  queries: Queries,
  schema: string,
  session: number,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, string> | undefined> {
  const rows = await queries.rows<{ hash: string; bytes: Buffer | null }>(
    `SELECT b.hash, b.bytes FROM ${schema}.sessions AS s LEFT JOIN ${schema}.blobs AS b
       ON b.session = s.id AND b.hash = ANY($2) WHERE s.id = $1`,
    [session, hashes],
  );
  if (rows.length === 0) return undefined;
  return new Map(rows.map(({ hash, bytes }) => [hash, bytes?.toString('utf8') ?? '']));
}
