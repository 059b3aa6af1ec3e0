import { formatSessionKey, type Json } from '../../core/index.ts';
import type { Blobs } from '../encoding/blob-references.ts';
import { duplicateReceipt } from '../rules/dedupe-key.ts';
import type { DocumentChange } from '../documents.ts';
import type { InjectReceipt, OwnerId, Submission, SubmitResult } from '../store.ts';
import type { Packed } from './database/packed-json.ts';
import type { DocumentTable } from './tables/document-table.ts';
import type { InboxTable } from './tables/inbox-table.ts';
import type { SessionTable } from './tables/session-table.ts';

/** A checked submission, whose inputs are packed. */
export interface PackedSubmission {
  readonly documents: readonly DocumentChange[];
  readonly sessions: NonNullable<Submission['sessions']>;
  readonly inputs: readonly (NonNullable<Submission['inputs']>[number] & {
    readonly value: Packed<Json>;
    readonly blobs: Blobs;
  })[];
}

/**
 * Writes documents, new sessions and inputs, in the open transaction.
 * @throws SessionNotFoundError, AlreadyAnsweredError, InvalidInputError before the first write
 */
export function writeSubmission(
  tables: {
    readonly documents: DocumentTable;
    readonly sessions: SessionTable;
    readonly inbox: InboxTable;
  },
  submission: PackedSubmission,
  host: { readonly newUid: () => string; readonly assertJoined: (owner: OwnerId) => void },
): SubmitResult {
  const { documents, sessions, inbox } = tables;
  // Check everything before the first write.
  const conflict = documents.conflict(submission.documents);
  if (conflict !== undefined) return conflict;
  const missing = submission.sessions.filter(({ key }) => sessions.head(key) === undefined);
  for (const { init } of missing) host.assertJoined(init.owner);
  const isMissing = new Set(missing.map(({ key }) => formatSessionKey(key)));
  for (const { key, dedupeKey } of submission.inputs) {
    if (isMissing.has(formatSessionKey(key))) continue;
    const earlier = inbox.findByKey(sessions.getHead(key).id, dedupeKey);
    if (earlier !== undefined) duplicateReceipt(dedupeKey, earlier);
  }
  documents.write(submission.documents);
  for (const { key, init } of missing) sessions.insert(key, { ...init, uid: host.newUid() });
  const receipts = submission.inputs.map(
    ({ key, input, dedupeKey, value, blobs }): InjectReceipt => {
      const head = sessions.getHead(key);
      const earlier = inbox.findByKey(head.id, dedupeKey);
      if (earlier !== undefined) return { inputSeq: earlier, duplicate: true };
      const inputSeq = inbox.append(head, dedupeKey, input.place, value, blobs);
      return { inputSeq, duplicate: false };
    },
  );
  return { ok: true, receipts };
}
