import type { Json } from '../core/json/json.ts';

/** A value under a name of its own, outside any session: a definition, a key, a setting. */
export interface StoredDocument {
  /** What it is: documents of different kinds never meet. */
  readonly kind: string;
  readonly id: string;
  /** 1, and one more for each time it was written. A document that is removed and written again begins anew. */
  readonly version: number;
  readonly value: Json;
}

/** What becomes of one document. */
export interface DocumentChange {
  readonly kind: string;
  readonly id: string;
  /** The version it has now; 0 when there is none. */
  readonly version: number;
  /** The new value; removed when missing. */
  readonly value?: Json;
}

/** Which documents of one kind are read, and in which order; all of them unless said. */
export interface DocumentQuery {
  readonly kind: string;
  /** Only ids that begin so. */
  readonly prefix?: string;
  /** Continues after this id (the last one of the page before). */
  readonly after?: string;
  /** By id, byte by byte; `ascending` unless said. */
  readonly order?: 'ascending' | 'descending';
  /** A whole number from 0; no limit unless given. */
  readonly limit?: number;
}

/** Whether all changes were written, or which document stood in the way, with the version it has. */
export type DocumentResult =
  | { readonly ok: true }
  /** This document is at another version. Nothing was written. */
  | { readonly ok: false; readonly kind: string; readonly id: string; readonly version: number };

/** The documents of a store. */
export interface DocumentStore {
  document(kind: string, id: string): Promise<StoredDocument | undefined>;

  documents(query: DocumentQuery): Promise<readonly StoredDocument[]>;

  /** Writes all of these or, when one is not at the version named, none. At most one change a document. */
  writeDocuments(changes: readonly DocumentChange[]): Promise<DocumentResult>;
}
