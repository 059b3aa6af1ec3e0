import type { Json } from '../core/index.ts';

/** A JSON value that is stored outside any session, for example a definition, a key or a setting. */
export interface StoredDocument {
  /** Namespace of the id: documents of different kinds are independent. */
  readonly kind: string;
  readonly id: string;
  /** Starts at 1 and increases by 1 with each write. Starts again at 1 after the document was removed. */
  readonly version: number;
  readonly value: Json;
}

/** A conditional write or removal of one document. */
export interface DocumentChange {
  readonly kind: string;
  readonly id: string;
  /** The expected current version. 0: the document must not exist. */
  readonly version: number;
  /** The new value. Undefined: the document is removed. */
  readonly value?: Json;
}

/** Selects documents of one kind. Default: all of them. */
export interface DocumentQuery {
  readonly kind: string;
  /** Only ids with this prefix. */
  readonly prefix?: string;
  /** Continues after this id: the last one of the previous page. */
  readonly after?: string;
  /** Order of the ids, compared byte by byte. Default: `ascending`. */
  readonly order?: 'ascending' | 'descending';
  /** An integer of at least 0. Default: no limit. */
  readonly limit?: number;
}

/** The result of a conditional write. */
export type DocumentResult =
  | { readonly ok: true }
  /** This document has another version, which is given. Nothing was written. */
  | { readonly ok: false; readonly kind: string; readonly id: string; readonly version: number };

/** The documents of a store. */
export interface DocumentStore {
  document(kind: string, id: string): Promise<StoredDocument | undefined>;

  documents(query: DocumentQuery): Promise<readonly StoredDocument[]>;

  /**
   * Applies all changes, or none when a document does not have the expected version.
   * @throws InvalidInputError when two changes name the same document
   */
  writeDocuments(changes: readonly DocumentChange[]): Promise<DocumentResult>;
}
