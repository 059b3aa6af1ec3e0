import { canonicalJson, formatSessionKey, PetrichorError, sha256Hex } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import type { DocumentStore } from '../../store/index.ts';

/**
 * A session cannot be imported, because its deletion was interrupted, and the next runtime ends it. Nothing was written.
 * @remedy Start a server of its application, which ends the deletion, and import again.
 */
export class SessionDeletingError extends PetrichorError {
  override readonly code = 'session_deleting' as const;
  readonly key: SessionKey;

  constructor(key: SessionKey) {
    super(
      `The deletion of session "${formatSessionKey(key)}" was interrupted and has not ended, so it was not imported. Start a server of its application, which ends the deletion, and import again.`,
    );
    this.key = key;
  }
}

/** A managed runtime ends such deletions when it opens. @throws SessionDeletingError */
export async function assertNoDeletion(documents: DocumentStore, key: SessionKey): Promise<void> {
  const { appName, userId, sessionId } = key;
  const withoutRecord = sha256Hex(canonicalJson([appName, userId, sessionId]));
  const found = await Promise.all([
    documents.document('session-deletion', sessionId),
    documents.document('session-deletion-without-record', withoutRecord),
  ]);
  if (found.some((one) => one !== undefined)) throw new SessionDeletingError(key);
}
