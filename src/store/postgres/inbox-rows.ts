import type { InputSeq } from '../store.ts';
import type { Queries, WriteQueries } from './queries.ts';
import type { InboxColumns, AppendedInput, InputKey } from '../server/inbox-row.ts';
import type { FullRow } from '../server/session-row.ts';

/** Appends an input to the inbox of a session whose row is locked, in the open transaction. */
export function insertInput(
  queries: WriteQueries,
  schema: string,
  session: FullRow['id'],
  input: AppendedInput,
): void {
  queries.add(
    `WITH counted AS (UPDATE ${schema}.sessions SET last_input = $2 WHERE id = $1),
       keyed AS (INSERT INTO ${schema}.input_keys (session, key, input) VALUES ($1, $3, $2))
     INSERT INTO ${schema}.inbox (session, input, key, place, value) VALUES ($1, $2, $3, $4, $5)`,
    [session, input.inputSeq, input.dedupeKey, input.place, input.value],
  );
}

/** Finds the number of the input with this dedupe key. */
export async function findInput(
  queries: Queries,
  schema: string,
  session: FullRow['id'],
  dedupeKey: string,
): Promise<InputSeq | undefined> {
  const [earlier] = await queries.rows<{ input: InputSeq }>(
    `SELECT input FROM ${schema}.input_keys WHERE session = $1 AND key = $2`,
    [session, dedupeKey],
  );
  return earlier?.input;
}

/** Finds those of the dedupe keys that their sessions have. */
export async function findInputKeys(
  queries: Queries,
  schema: string,
  keys: readonly InputKey[],
): Promise<readonly InputKey[]> {
  return queries.rows<InputKey>(
    `SELECT k.session AS id, k.key AS "dedupeKey" FROM ${schema}.input_keys AS k
     JOIN unnest($1::bigint[], $2::text[]) AS u (session, key) ON k.session = u.session AND k.key = u.key`,
    [keys.map(({ id }) => id), keys.map(({ dedupeKey }) => dedupeKey)],
  );
}

/** Reads the unread inputs of a session with a number above `after`. */
export async function readInbox(
  queries: Queries,
  schema: string,
  session: FullRow['id'],
  after: InputSeq,
): Promise<readonly InboxColumns[]> {
  return queries.rows<InboxColumns>(
    `SELECT input, key AS dedupe_key, place, value FROM ${schema}.inbox WHERE session = $1 AND input > $2 ORDER BY input`,
    [session, after],
  );
}
