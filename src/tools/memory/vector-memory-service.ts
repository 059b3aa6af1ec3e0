import { checkDefinition } from '../../core/internal.ts';
import { InvalidInputError, contentText, optionTable } from '../../core/index.ts';
import type { SessionKey, OptionTable } from '../../core/index.ts';
import type { MemoryEntry, MemoryService } from './memory-service.ts';
import { InMemoryVectorIndex } from './vector-index.ts';
import type { VectorIndex } from './vector-index.ts';

/** Options of `VectorMemoryService`: the embedding, the index, and the threshold of a search. */
export interface VectorMemoryOptions {
  /**
   * Returns one vector for each text, all of the same length, usually by calling an embedding
   * model.
   */
  readonly embed: (texts: readonly string[]) => Promise<readonly (readonly number[])[]>;
  /** Default: an `InMemoryVectorIndex`. */
  readonly index?: VectorIndex;
  /** A search returns only entries whose cosine similarity is above it. Default: 0. */
  readonly minScore?: number;
}

const DEFAULT_LIMIT = 10;

/** The options of `VectorMemoryService`. */
export const VECTOR_MEMORY_OPTIONS: OptionTable = optionTable<VectorMemoryOptions>(
  'VectorMemoryService',
  {
    embed: true,
    index: true,
    minScore: true,
  },
);

/**
 * Memory that searches by meaning, with embedding vectors. Its methods reject with the errors of
 * `embed` and of the index.
 */
export class VectorMemoryService implements MemoryService {
  readonly #embed: VectorMemoryOptions['embed'];
  readonly #index: VectorIndex;
  readonly #minScore: number;

  constructor(options: VectorMemoryOptions) {
    if (new.target === VectorMemoryService) checkDefinition(VECTOR_MEMORY_OPTIONS, options);
    const { embed, index = new InMemoryVectorIndex(), minScore = 0 } = options;
    this.#embed = embed;
    this.#index = index;
    this.#minScore = minScore;
  }

  readonly add: MemoryService['add'] = async (session, entries) => {
    if (entries.length === 0) return;
    const vectors = await this.#embedAll(entries.map(({ content }) => contentText(content)));
    await this.#index.put(
      ownerKey(session),
      entries.map((entry, index) => ({
        id: JSON.stringify([session.sessionId, entry.id]),
        vector: vectors[index] ?? [],
        value: { ...entry },
      })),
    );
  };

  readonly search: MemoryService['search'] = async (owner, query, options = {}) => {
    if (query.trim() === '') return [];
    const [vector = []] = await this.#embedAll([query]);
    const limit = options.limit ?? DEFAULT_LIMIT;
    const found = await this.#index.nearest(ownerKey(owner), vector, limit);
    return found
      .filter(({ score }) => score > this.#minScore)
      .map(({ value }) => value) // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `add`
      .map((value) => value as unknown as MemoryEntry);
  };

  async #embedAll(texts: readonly string[]): Promise<readonly (readonly number[])[]> {
    const vectors = await this.#embed(texts);
    if (vectors.length === texts.length) return vectors;
    throw new InvalidInputError(
      'embed',
      `must return one vector per text; it returned ${vectors.length} for ${texts.length} texts.`,
    );
  }
}

function ownerKey({ appName, userId }: Pick<SessionKey, 'appName' | 'userId'>): string {
  return JSON.stringify([appName, userId]);
}
