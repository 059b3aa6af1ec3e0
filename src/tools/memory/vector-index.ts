import type { Json } from '../../core/index.ts';

/** A value with the vector by which it is found. */
export interface VectorItem {
  /** One that is there already is replaced. */
  readonly id: string;
  readonly vector: readonly number[];
  readonly value: Json;
}

/** Where vectors are kept, each owner's for themselves: a port to whichever vector database is at hand. */
export interface VectorIndex {
  readonly put: (owner: string, items: readonly VectorItem[]) => Promise<void>;
  /** Values by how near they are to a vector, nearest first, with their cosine. */
  readonly nearest: (
    owner: string,
    vector: readonly number[],
    limit: number,
  ) => Promise<readonly { readonly value: Json; readonly score: number }[]>;
}

/** Vectors in the memory of this process, each compared with each query. */
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
