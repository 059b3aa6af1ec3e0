import { formatSessionKey, sha256Hex } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import { isJsonObject } from '../../core/internal.ts';
import type {
  DocumentChange,
  DocumentItem,
  DocumentStore,
  StoredDocument,
} from '../../store/index.ts';

/** The kind of the documents that say when sessions were imported. */
export const SESSION_IMPORTS = 'session-import';

/**
 * What records that a session is imported, so that retention does not take it for as old as its last record. It is written
 * with the session. The time of an earlier import is replaced at once.
 */
export async function planImportTime(
  documents: DocumentStore,
  key: SessionKey,
  at: number,
): Promise<readonly DocumentItem[]> {
  const name = { kind: SESSION_IMPORTS, id: toId(key) };
  const value = { at, session: { ...key } };
  const found = await findImport(documents, key);
  if (found === undefined) return [{ type: 'document', ...name, version: 1, value }];
  const change = { ...name, version: found.version, value };
  const isWritten = (await documents.writeDocuments([change])).ok;
  return isWritten ? [] : planImportTime(documents, key, at);
}

/** When a session was imported, in epoch ms, and the change that removes this. Undefined: it was not. */
export async function findImportTime(
  documents: DocumentStore,
  key: SessionKey,
): Promise<{ readonly at: number; readonly removal: DocumentChange } | undefined> {
  const found = await findImport(documents, key);
  if (found === undefined) return undefined;
  const { kind, id, version, value } = found;
  const at = isJsonObject(value) && typeof value['at'] === 'number' ? value['at'] : 0;
  return { at, removal: { kind, id, version } };
}

async function findImport(
  documents: DocumentStore,
  key: SessionKey,
): Promise<StoredDocument | undefined> {
  return documents.document(SESSION_IMPORTS, toId(key));
}

/** A session key can be longer than the id of a document. */
function toId(key: SessionKey): string {
  return sha256Hex(formatSessionKey(key));
}
