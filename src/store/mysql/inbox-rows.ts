import type { InboxColumns, AppendedInput, InputKey } from '../server/inbox-row.ts';
import type { FullRow } from '../server/session-row.ts';
import type { InputSeq } from '../store.ts';
import type { TableNames } from './schema.ts';
import type { Reads, Transaction } from './statement.ts';

/** Queues an input of a session whose row is locked. */
export function insertInput(
  queries: Transaction,
  t: TableNames,
  session: FullRow['id'],
  input: AppendedInput,
): void {
  const { inputSeq, dedupeKey, place, value } = input;
  queries.add(`UPDATE ${t('sessions')} SET last_input = ? WHERE id = ?`, [inputSeq, session]);
  queries.add(`INSERT INTO ${t('input_keys')} (session, dedupe_key, input) VALUES (?, ?, ?)`, [
    session,
    dedupeKey,
    inputSeq,
  ]);
  queries.add(
    `INSERT INTO ${t('inbox')} (session, input, dedupe_key, place, value) VALUES (?, ?, ?, ?, ?)`,
    [session, inputSeq, dedupeKey, place, value],
  );
}

/** Finds the number of the input with this dedupe key. */
export async function findInput(
  queries: Reads,
  t: TableNames,
  session: FullRow['id'],
  dedupeKey: string,
): Promise<InputSeq | undefined> {
  const [earlier] = await queries.rows<{ input: InputSeq }>(
    `SELECT input FROM ${t('input_keys')} WHERE session = ? AND dedupe_key = ?`,
    [session, dedupeKey],
  );
  return earlier?.input;
}

/** Finds those of the dedupe keys that their sessions have. */
export async function findInputKeys(
  queries: Reads,
  t: TableNames,
  keys: readonly InputKey[],
): Promise<readonly InputKey[]> {
  const where = keys.map(() => '(session = ? AND dedupe_key = ?)').join(' OR ');
  return queries.rows<InputKey>(
    `SELECT session AS id, dedupe_key AS dedupeKey FROM ${t('input_keys')} WHERE ${where}`,
    keys.flatMap(({ id, dedupeKey }) => [id, dedupeKey]),
  );
}

/** Reads the unread inputs of a session with a number above `after`. */
export async function readInbox(
  queries: Reads,
  t: TableNames,
  session: FullRow['id'],
  after: InputSeq,
): Promise<readonly InboxColumns[]> {
  return queries.rows<InboxColumns>(
    `SELECT input, dedupe_key, place, value FROM ${t('inbox')} WHERE session = ? AND input > ? ORDER BY input`,
    [session, after],
  );
}
