import { duplicateReceipt } from '../rules/dedupe-key.ts';
import type { InboxRow, InjectReceipt, InputSeq } from '../store.ts';
import type { Queries } from './database.ts';
import { parseStoredJson } from './parse-stored-json.ts';
import type { FullRow } from './session-rows.ts';

/**
 * Appends an input to the inbox of a session whose row is locked, in the open transaction.
 * @throws AlreadyAnsweredError
 */
export async function injectInput(
  queries: Queries,
  schema: string,
  { id, last_input: last }: Pick<FullRow, 'id' | 'last_input'>,
  input: { readonly place: string; readonly value: string; readonly dedupeKey: string },
): Promise<InjectReceipt> {
  const { place, value, dedupeKey } = input;
  const earlier = await findInput(queries, schema, id, dedupeKey);
  if (earlier !== undefined) return duplicateReceipt(dedupeKey, earlier);
  const inputSeq = last + 1;
  await queries.rows(
    `WITH counted AS (UPDATE ${schema}.sessions SET last_input = $2 WHERE id = $1),
       keyed AS (INSERT INTO ${schema}.input_keys (session, key, input) VALUES ($1, $3, $2))
     INSERT INTO ${schema}.inbox (session, input, key, place, value) VALUES ($1, $2, $3, $4, $5)`,
    [id, inputSeq, dedupeKey, place, value],
  );
  return { inputSeq, duplicate: false };
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

/** Reads the unread inputs of a session with a number above `after`. */
export async function readInbox(
  queries: Queries,
  schema: string,
  session: FullRow['id'],
  after: InputSeq,
): Promise<readonly InboxRow[]> {
  const rows = await queries.rows<{
    input: InputSeq;
    key: string;
    place: string;
    value: string;
  }>(
    `SELECT input, key, place, value FROM ${schema}.inbox WHERE session = $1 AND input > $2 ORDER BY input`,
    [session, after],
  );
  return rows.map((row) => ({
    inputSeq: row.input,
    input: { place: row.place, value: parseStoredJson(row.value) },
    key: row.key,
  }));
}
