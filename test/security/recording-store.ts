import { sha256Hex } from '../../src/core/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import type { DocumentChange, DocumentResult } from '../../src/store/index.ts';

/** Document kinds that record requests; they change even if a request changes nothing else. */
const REQUEST_RECORD_KINDS = new Set(['sent-request', 'attempt-made']);

/** A store that knows which document kinds exist, so that tests can compare all its contents. */
export class RecordingStore extends MemoryStore {
  readonly #kinds = new Set<string>();

  override async writeDocuments(changes: readonly DocumentChange[]): Promise<DocumentResult> {
    for (const { kind } of changes) this.#kinds.add(kind);
    return super.writeDocuments(changes);
  }

  /** A short description of the contents. Two are equal if nothing changed between them. */
  async fingerprint(): Promise<readonly string[]> {
    const rows = await this.list({});
    const kinds = [...this.#kinds].filter((kind) => !REQUEST_RECORD_KINDS.has(kind)).toSorted();
    const documents = await Promise.all(kinds.map(async (kind) => this.documents({ kind })));
    return [
      ...rows.map(({ key, lastSeq, status }) => JSON.stringify([key, lastSeq, status])),
      ...documents
        .flat()
        .map(({ id, version, value }) => `${id} ${version} ${sha256Hex(JSON.stringify(value))}`),
    ];
  }
}
