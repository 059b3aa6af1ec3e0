import { isRecord } from '../../core/internal.ts';
import { canonicalJson, sha256Hex } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import type { DocumentChange, DocumentStore } from '../../store/index.ts';

/** Deletions of sessions without a record that have started, by app, user and id. */
const DELETIONS = 'session-deletion-without-record';

/** The deletion of a session that a program made. */
export interface DeletionWithoutRecord {
  readonly userId: string;
  readonly id: string;
  /** The session that is being deleted. A program can make another one with the same id meanwhile. */
  readonly uid: string;
  /** The sessions of the agents that it called. */
  readonly threads: readonly string[];
}

/** Stores which deletions of sessions without a record have started, so that a later process can end them. */
export class DeletionsWithoutRecord {
  readonly #documents: DocumentStore;
  readonly #appName: string;

  constructor(documents: DocumentStore, appName: string) {
    this.#documents = documents;
    this.#appName = appName;
  }

  /** Stores that a deletion has started. It includes the threads of a deletion of the same session that has not ended. */
  async begin(deletion: DeletionWithoutRecord): Promise<DeletionWithoutRecord> {
    const { begun, document } = await this.plan(deletion);
    const written = await this.#documents.writeDocuments([document]);
    return written.ok ? begun : this.begin(deletion);
  }

  /** The document with which `begin` begins. */
  async plan(
    deletion: DeletionWithoutRecord,
  ): Promise<{ readonly begun: DeletionWithoutRecord; readonly document: DocumentChange }> {
    const id = this.#toDocumentId(deletion);
    const found = await this.#documents.document(DELETIONS, id);
    const known = found === undefined ? [] : parseDeletion(found.value).threads;
    const begun = { ...deletion, threads: [...new Set([...known, ...deletion.threads])] };
    const value = { ...begun, appName: this.#appName };
    return { begun, document: { kind: DELETIONS, id, version: found?.version ?? 0, value } };
  }

  async find(
    session: Pick<DeletionWithoutRecord, 'userId' | 'id'>,
  ): Promise<DeletionWithoutRecord | undefined> {
    const found = await this.#documents.document(DELETIONS, this.#toDocumentId(session));
    return found === undefined ? undefined : parseDeletion(found.value);
  }

  /** Lists the deletions of this application that have started and not ended. */
  async list(): Promise<readonly DeletionWithoutRecord[]> {
    const found = await this.#documents.documents({ kind: DELETIONS });
    return found
      .filter(({ value }) => isRecord(value) && value['appName'] === this.#appName)
      .map(({ value }) => parseDeletion(value));
  }

  /** Forgets a deletion that has ended, unless one of another session with its id has begun. */
  async end(deletion: DeletionWithoutRecord): Promise<void> {
    const id = this.#toDocumentId(deletion);
    const found = await this.#documents.document(DELETIONS, id);
    if (found === undefined || parseDeletion(found.value).uid !== deletion.uid) return;
    const change = { kind: DELETIONS, id, version: found.version };
    if (!(await this.#documents.writeDocuments([change])).ok) await this.end(deletion);
  }

  #toDocumentId({ userId, id }: Pick<DeletionWithoutRecord, 'userId' | 'id'>): string {
    return sha256Hex(canonicalJson([this.#appName, userId, id]));
  }
}

function parseDeletion(value: Json): DeletionWithoutRecord {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by begin under the same kind
  const { userId, id, uid, threads } = value as unknown as DeletionWithoutRecord;
  return { userId, id, uid, threads };
}
