import type { Json } from '../core/index.ts';

/** A value that can be found by words. */
export interface IndexedText {
  /** The id of the entry within its group. An entry with the same id is replaced. */
  readonly id: string;
  readonly group: string;
  /** Epoch ms. Of two entries with the same rank, the later one comes first. */
  readonly at: number;
  readonly words: readonly string[];
  readonly value: Json;
}

/** A word index over JSON values. Each owner sees only the owner's entries. */
export interface TextIndex {
  /** Writes all entries or, when it throws, none. */
  put(owner: string, entries: readonly IndexedText[]): Promise<void>;
  /** Finds the values with at least one of the words, best match first. */
  search(owner: string, words: readonly string[], limit: number): Promise<readonly Json[]>;
  close(): Promise<void>;
}
