import { formatSessionKey, type SessionKey } from '../../core/index.ts';
import type { DocumentChange } from '../documents.ts';
import { duplicateReceipt } from '../rules/dedupe-key.ts';
import type { InjectReceipt, OwnerId, Submission, SubmitResult } from '../store.ts';
import { notFound, type ServerTables } from './server-tables.ts';
import { toSessionKey, type FullRow, type NewSession } from './session-row.ts';

/** A checked submission, whose new sessions have uids. */
export interface CheckedSubmission {
  readonly documents: readonly DocumentChange[];
  readonly sessions: readonly { readonly key: SessionKey; readonly init: NewSession }[];
  readonly inputs: NonNullable<Submission['inputs']>;
}

/** The result of a submission, and the owners of the sessions that it has inputs for. */
export interface WrittenSubmission {
  readonly result: SubmitResult;
  /** By formatted session key. */
  readonly owners: ReadonlyMap<string, OwnerId | null>;
}

/**
 * Writes documents, new sessions and inputs in the open transaction.
 * @throws SessionNotFoundError, AlreadyAnsweredError
 */
export async function writeSubmission<R, W extends R>(
  queries: W,
  tables: ServerTables<R, W>,
  { documents, sessions, inputs }: CheckedSubmission,
): Promise<WrittenSubmission> {
  // Locks documents before sessions, and sessions in the order of their ids, to avoid deadlocks.
  if (documents.length > 0) {
    const written = await tables.writeDocuments(queries, documents);
    if (!written.ok) return { result: written, owners: new Map() };
  }
  for (const { key, init } of sessions) await tables.insertSession(queries, key, init);
  const keys = inputs.map(({ key }) => key);
  const rows = new Map<string, FullRow>();
  for (const row of keys.length === 0 ? [] : await tables.lockSessions(queries, keys, 'fail'))
    rows.set(formatSessionKey(toSessionKey(row)), row);
  const receipts: InjectReceipt[] = [];
  for (const { key, input, dedupeKey } of inputs) {
    const name = formatSessionKey(key);
    const row = rows.get(name);
    if (row === undefined) throw await notFound(tables, queries, key);
    const value = JSON.stringify(input.value);
    const { place } = input;
    const receipt = await injectInput(queries, tables, row, { place, value, dedupeKey });
    receipts.push(receipt);
    if (!receipt.duplicate) rows.set(name, { ...row, last_input: receipt.inputSeq });
  }
  const owners = new Map([...rows].map(([name, { owner }]) => [name, owner] as const));
  return { result: { ok: true, receipts }, owners };
}

/**
 * Appends an input to the inbox of a session whose row is locked, in the open transaction.
 * @throws AlreadyAnsweredError
 */
export async function injectInput<R, W extends R>(
  queries: W,
  tables: ServerTables<R, W>,
  { id, last_input: last }: Pick<FullRow, 'id' | 'last_input'>,
  input: { readonly place: string; readonly value: string; readonly dedupeKey: string },
): Promise<InjectReceipt> {
  const earlier = await tables.findInput(queries, id, input.dedupeKey);
  if (earlier !== undefined) return duplicateReceipt(input.dedupeKey, earlier);
  const inputSeq = last + 1;
  await tables.insertInput(queries, id, { ...input, inputSeq });
  return { inputSeq, duplicate: false };
}
