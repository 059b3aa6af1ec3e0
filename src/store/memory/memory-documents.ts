import { compareBytes } from '../encoding/compare-bytes.ts';
import { checkChanges, normalizeQuery } from '../rules/document-rules.ts';
import type {
  DocumentChange,
  DocumentQuery,
  DocumentResult,
  StoredDocument,
} from '../documents.ts';

/** The documents of a memory store. */
export class MemoryDocuments {
  readonly #kinds = new Map<string, Map<string, StoredDocument>>();

  get(kind: string, id: string): StoredDocument | undefined {
    return this.#kinds.get(kind)?.get(id);
  }

  list(query: DocumentQuery): readonly StoredDocument[] {
    const { kind, prefix, after, descending, limit } = normalizeQuery(query);
    const sign = descending ? -1 : 1;
    const found = [...(this.#kinds.get(kind)?.values() ?? [])]
      .filter(({ id }) => id.startsWith(prefix))
      .filter(({ id }) => after === undefined || sign * compareBytes(id, after) > 0)
      .toSorted((a, b) => sign * compareBytes(a.id, b.id));
    return limit < 0 ? found : found.slice(0, limit);
  }

  /** Checks changes. Returns the result, and a function that applies them if the result is ok. */
  plan(changes: readonly DocumentChange[]): {
    readonly result: DocumentResult;
    readonly apply: () => void;
  } {
    const checked = checkChanges(changes);
    for (const { kind, id, version } of checked) {
      const current = this.get(kind, id)?.version ?? 0;
      if (current !== version)
        return { result: { ok: false, kind, id, version: current }, apply: () => {} };
    }
    return { result: { ok: true }, apply: () => checked.forEach((change) => this.#write(change)) };
  }

  isEmpty(): boolean {
    return this.all().length === 0;
  }

  all(): readonly StoredDocument[] {
    return [...this.#kinds.values()].flatMap((documents) => [...documents.values()]);
  }

  /** Takes a document as it is, with its version. */
  put(document: StoredDocument): void {
    this.#documents(document.kind).set(document.id, document);
  }

  #write({ kind, id, version, value }: DocumentChange): void {
    if (value === undefined) this.#documents(kind).delete(id);
    else this.put({ kind, id, version: version + 1, value });
  }

  #documents(kind: string): Map<string, StoredDocument> {
    const documents = this.#kinds.get(kind) ?? new Map<string, StoredDocument>();
    this.#kinds.set(kind, documents);
    return documents;
  }
}
