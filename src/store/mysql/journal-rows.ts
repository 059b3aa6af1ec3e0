import type { SessionKey } from '../../core/index.ts';
import { STEPS_PER_PAGE } from '../encoding/numbered-items.ts';
import type { JournalPageRow, JournalRange } from '../server/journal-reader.ts';
import { toKeyParameters } from '../server/session-row.ts';
import type { StepNumber } from '../store.ts';
import type { TableNames } from './schema.ts';
import type { Reads } from './statement.ts';

const CONDITIONS: Readonly<Record<JournalRange['select'], string>> = {
  steps: 't.step > ?',
  lists: 't.lists = 1 AND t.step > ? AND t.last_record >= ?',
  events: 't.last_event > ?',
};

/** Reads the ends of a session's journal and a page of its steps in one statement. */
export async function readJournalPage(
  queries: Reads,
  t: TableNames,
  key: SessionKey,
  range: JournalRange,
): Promise<readonly JournalPageRow[]> {
  const values = range.select === 'lists' ? [range.after, range.fromRecord] : [range.after];
  return queries.rows<JournalPageRow>(
    `SELECT s.id, s.uid, s.head, s.last_seq, t.step, t.at, t.last_record, t.last_event, t.records, t.events
     FROM ${t('sessions')} AS s LEFT JOIN ${t('steps')} AS t ON t.session = s.id AND ${CONDITIONS[range.select]}
     WHERE s.app = ? AND s.user_id = ? AND s.name = ? ORDER BY t.step LIMIT ${STEPS_PER_PAGE}`,
    [...values, ...toKeyParameters(key)],
  );
}

export async function readSnapshot(
  queries: Reads,
  t: TableNames,
  session: number,
): Promise<{ readonly step: StepNumber; readonly marking: string } | undefined> {
  const [row] = await queries.rows<{ step: StepNumber; marking: string }>(
    `SELECT step, marking FROM ${t('snapshots')} WHERE session = ?`,
    [session],
  );
  return row;
}

/** Reads long strings by hash. Undefined when there is no such session. */
export async function readBlobs(
  queries: Reads,
  t: TableNames,
  session: number,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, string> | undefined> {
  const rows = await queries.rows<{ hash: string | null; bytes: Buffer | null }>(
    `SELECT b.hash, b.bytes FROM ${t('sessions')} AS s LEFT JOIN ${t('blobs')} AS b
     ON b.session = s.id AND b.hash IN (?) WHERE s.id = ? ORDER BY b.hash, b.part`,
    [hashes, session],
  );
  if (rows.length === 0) return undefined;
  const parts = Map.groupBy(rows, ({ hash }) => hash ?? '');
  return new Map(
    [...parts].map(([hash, group]) => [
      hash,
      Buffer.concat(group.flatMap(({ bytes }) => bytes ?? [])).toString('utf8'),
    ]),
  );
}
