import type { Json } from '../../core/index.ts';

/** A value with the vector by which it is found. */
export interface VectorItem {
  /** An item with the same id is replaced. */
  readonly id: string;
  readonly vector: readonly number[];
  readonly value: Json;
}

/** Stores vectors per owner: a port to a vector database. */
export interface VectorIndex {
  readonly put: (owner: string, items: readonly VectorItem[]) => Promise<void>;
  /** The values nearest to a vector, nearest first. `score` is the cosine similarity. */
  readonly nearest: (
    owner: string,
    vector: readonly number[],
    limit: number,
  ) => Promise<readonly { readonly value: Json; readonly score: number }[]>;
}

/**
 * Keeps vectors in the memory of this process. A search compares the query with every vector of the
 * owner.
 */
export class InMemoryVectorIndex implements VectorIndex {
  readonly #items = new Map<string, Map<string, VectorItem>>();

  readonly put: VectorIndex['put'] = async (owner, items) => {
    const owned = this.#items.get(owner) ?? new Map<string, VectorItem>();
    for (const item of items) owned.set(item.id, item);
    this.#items.set(owner, owned);
  };

  readonly nearest: VectorIndex['nearest'] = async (owner, vector, limit) =>
    [...(this.#items.get(owner)?.values() ?? [])]
      .map(({ vector: other, value }) => ({ value, score: cosine(vector, other) }))
      .toSorted((a, b) => b.score - a.score)
      .slice(0, limit);
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = a.reduce((sum, x, index) => sum + x * (b[index] ?? 0), 0);
  const length = Math.hypot(...a) * Math.hypot(...b);
  return length === 0 ? 0 : dot / length;
}
