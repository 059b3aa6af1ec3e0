import type { Json } from '../core/json/json.ts';

/** A value that is found by words. */
export interface IndexedText {
  /** Names the entry within its group: one that is there already is replaced. */
  readonly id: string;
  readonly group: string;
  /** Epoch ms: of two that fit equally, the later one comes first. */
  readonly at: number;
  readonly words: readonly string[];
  readonly value: Json;
}

/** Finds values by the words that belong to them, each owner's for themselves. */
export interface TextIndex {
  /** All of them or, when it throws, none. */
  put(owner: string, entries: readonly IndexedText[]): Promise<void>;
  /** Values with at least one of the words, best first. */
  search(owner: string, words: readonly string[], limit: number): Promise<readonly Json[]>;
  close(): Promise<void>;
}
