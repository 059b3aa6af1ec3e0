import { normalizeQuery } from '../../rules/document-rules.ts';
import type {
  DocumentChange,
  DocumentQuery,
  DocumentResult,
  StoredDocument,
} from '../../documents.ts';
import type { Json } from '../../../core/index.ts';
import type { BlobTable } from './blob-table.ts';
import type { Connection, Statement } from '../database/connection.ts';
import { packWithoutBlobs, type Packed } from '../database/packed-json.ts';

interface DocumentRow {
  readonly id: string;
  readonly version: number;
  readonly value: Packed<Json>;
}

/** The documents of a store. */
export class DocumentTable {
  readonly #blobs: BlobTable;
  readonly #find: Statement<DocumentRow>;
  readonly #ascending: Statement<DocumentRow>;
  readonly #descending: Statement<DocumentRow>;
  readonly #write: Statement<never>;
  readonly #remove: Statement<never>;

  constructor(connection: Connection, blobs: BlobTable) {
    this.#blobs = blobs;
    this.#find = connection.prepare(
      'SELECT id, version, value FROM documents WHERE kind = ? AND id = ?',
    );
    // Unnumbered parameters only: Node 22.13 treats ?1 as a named parameter and does not bind it by position.
    const list = (compare: string, order: string): Statement<DocumentRow> =>
      connection.prepare(`
        SELECT id, version, value FROM documents
        WHERE kind = ? AND (? IS NULL OR id ${compare} ?) AND id >= ? AND substr(id, 1, length(?)) = ?
        ORDER BY id ${order} LIMIT ?`);
    this.#ascending = list('>', 'ASC');
    this.#descending = list('<', 'DESC');
    this.#write = connection.prepare(`
      INSERT INTO documents (kind, id, version, value) VALUES (?, ?, ?, ?)
      ON CONFLICT (kind, id) DO UPDATE SET version = excluded.version, value = excluded.value`);
    this.#remove = connection.prepare('DELETE FROM documents WHERE kind = ? AND id = ?');
  }

  get(kind: string, id: string): StoredDocument | undefined {
    const row = this.#find.get(kind, id);
    return row === undefined ? undefined : this.#toDocument(kind, row);
  }

  list(query: DocumentQuery): readonly StoredDocument[] {
    const { kind, prefix, after, descending, limit } = normalizeQuery(query);
    const statement = descending ? this.#descending : this.#ascending;
    return statement
      .all(kind, after ?? null, after ?? null, prefix, prefix, prefix, limit)
      .map((row) => this.#toDocument(kind, row));
  }

  /** Finds the first change whose document has another version. */
  conflict(
    changes: readonly DocumentChange[],
  ): Extract<DocumentResult, { readonly ok: false }> | undefined {
    for (const { kind, id, version } of changes) {
      const current = this.#find.get(kind, id)?.version ?? 0;
      if (current !== version) return { ok: false, kind, id, version: current };
    }
    return undefined;
  }

  /** Applies all changes, which have been checked, or none. */
  write(changes: readonly DocumentChange[]): DocumentResult {
    const conflict = this.conflict(changes);
    if (conflict !== undefined) return conflict;
    for (const { kind, id, version, value } of changes) {
      if (value === undefined) this.#remove.run(kind, id);
      else this.#write.run(kind, id, version + 1, packWithoutBlobs(value));
    }
    return { ok: true };
  }

  #toDocument(kind: string, { id, version, value }: DocumentRow): StoredDocument {
    return { kind, id, version, value: this.#blobs.unpack(value, `${kind} "${id}"`) };
  }
}
