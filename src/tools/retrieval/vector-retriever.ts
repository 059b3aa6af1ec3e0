import { omitUndefined, checkDefinition } from '../../core/internal.ts';
import { InvalidInputError, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { InMemoryVectorIndex, type VectorIndex } from '../memory/vector-index.ts';
import type { VectorMemoryOptions } from '../memory/vector-memory-service.ts';
import type { FoundPassage, Passage, Retriever } from './retriever.ts';

/** Options of `VectorRetriever`: those of `VectorMemoryService`, and the name of its collection. */
export interface VectorRetrieverOptions extends VectorMemoryOptions {
  /** The part of the index that holds the passages. Default: `passages`. */
  readonly collection?: string;
}

/** The options of `VectorRetriever`. */
export const VECTOR_RETRIEVER_OPTIONS: OptionTable = optionTable<VectorRetrieverOptions>(
  'VectorRetriever',
  {
    embed: true,
    index: true,
    minScore: true,
    collection: true,
  },
);

/** Finds passages by meaning, with embedding vectors. Its methods reject with the errors of `embed` and of the index. */
export class VectorRetriever implements Retriever {
  readonly #embed: VectorRetrieverOptions['embed'];
  readonly #index: VectorIndex;
  readonly #minScore: number;
  readonly #collection: string;

  constructor(options: VectorRetrieverOptions) {
    if (new.target === VectorRetriever) checkDefinition(VECTOR_RETRIEVER_OPTIONS, options);
    const {
      embed,
      index = new InMemoryVectorIndex(),
      minScore = 0,
      collection = 'passages',
    } = options;
    this.#embed = embed;
    this.#index = index;
    this.#minScore = minScore;
    this.#collection = collection;
  }

  /** Adds passages. One with the same id is replaced. */
  async add(passages: readonly Passage[]): Promise<void> {
    if (passages.length === 0) return;
    const vectors = await this.#embed(passages.map(({ text }) => text));
    if (vectors.length !== passages.length)
      throw new InvalidInputError(
        'embed',
        `must return one vector per text; it returned ${vectors.length} for ${passages.length} texts.`,
      );
    await this.#index.put(
      this.#collection,
      passages.map(({ id, text, metadata }, index) => ({
        id,
        vector: vectors[index] ?? [],
        value: { id, text, ...omitUndefined({ metadata }) },
      })),
    );
  }

  readonly retrieve: Retriever['retrieve'] = async (query, { limit }) => {
    if (query.trim() === '') return [];
    const [vector = []] = await this.#embed([query]);
    const found = await this.#index.nearest(this.#collection, vector, limit);
    return found
      .filter(({ score }) => score > this.#minScore)
      .map(({ value, score }): FoundPassage => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `add`
        const passage = value as Passage;
        return { ...passage, score };
      });
  };
}
