import { formatSessionKey, type SessionKey } from '../../core/index.ts';
import type { DocumentChange } from '../documents.ts';
import type { InjectReceipt, OwnerId, Submission, SubmitResult } from '../store.ts';
import type { Queries } from './database.ts';
import { writeDocumentRows } from './document-rows.ts';
import { injectInput } from './inbox-rows.ts';
import { toSessionKey, type FullRow, type SessionRows } from './session-rows.ts';

/** A checked submission, whose new sessions have uids. */
export interface CheckedSubmission {
  readonly documents: readonly DocumentChange[];
  readonly sessions: readonly {
    readonly key: SessionKey;
    readonly init: Parameters<SessionRows['insert']>[2];
  }[];
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
export async function writeSubmission(
  queries: Queries,
  schema: string,
  sessionRows: SessionRows,
  { documents, sessions, inputs }: CheckedSubmission,
): Promise<WrittenSubmission> {
  // Locks documents before sessions, and sessions in the order of their ids, to avoid deadlocks.
  if (documents.length > 0) {
    const written = await writeDocumentRows(queries, schema, documents);
    if (!written.ok) return { result: written, owners: new Map() };
  }
  for (const { key, init } of sessions) await sessionRows.insert(queries, key, init);
  const keys = inputs.map(({ key }) => key);
  const rows = new Map<string, FullRow>();
  for (const row of keys.length === 0 ? [] : await sessionRows.lockAll(queries, keys))
    rows.set(formatSessionKey(toSessionKey(row)), row);
  const receipts: InjectReceipt[] = [];
  for (const { key, input, dedupeKey } of inputs) {
    const name = formatSessionKey(key);
    const row = rows.get(name);
    if (row === undefined) throw await sessionRows.notFound(queries, key);
    const value = JSON.stringify(input.value);
    const receipt = await injectInput(queries, schema, row, {
      place: input.place,
      value,
      dedupeKey,
    });
    receipts.push(receipt);
    if (!receipt.duplicate) rows.set(name, { ...row, last_input: receipt.inputSeq });
  }
  const owners = new Map([...rows].map(([name, { owner }]) => [name, owner] as const));
  return { result: { ok: true, receipts }, owners };
}
