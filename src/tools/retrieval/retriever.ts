import type { JsonObject } from '../../core/index.ts';

/** A text that a retriever can find. */
export type Passage = {
  /** Identifies the passage within its retriever. */
  readonly id: string;
  readonly text: string;
  /** For example the title and the address of its source. Shown to the model. */
  readonly metadata?: JsonObject;
};

/** A passage that was found, with its similarity to the query, if the retriever has one. */
export type FoundPassage = Passage & { readonly score?: number };

/** Finds passages for a query: a port to a search engine or a vector database. */
export interface Retriever {
  /** Returns the best passages first, at most `limit`. */
  readonly retrieve: (
    query: string,
    options: { readonly limit: number; readonly signal: AbortSignal },
  ) => Promise<readonly FoundPassage[]>;
}
