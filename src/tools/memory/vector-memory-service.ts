import { InvalidInputError, contentText } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import type { MemoryEntry, MemoryService } from './memory-service.ts';
import { InMemoryVectorIndex } from './vector-index.ts';
import type { VectorIndex } from './vector-index.ts';

/** What makes vectors of texts, where they are kept, and how alike is alike enough. */
export interface VectorMemoryOptions {
  /** The vectors of texts, one each, all of one length: a call of an embedding model. */
  readonly embed: (texts: readonly string[]) => Promise<readonly (readonly number[])[]>;
  /** In the memory of this process unless given. */
  readonly index?: VectorIndex;
  /** What is less like the query, by cosine, is not found; 0 unless given. */
  readonly minScore?: number;
}

const DEFAULT_LIMIT = 10;

/** Remembers by meaning: by vectors that a model makes of texts. Its methods reject with what model and index throw. */
export class VectorMemoryService implements MemoryService {
  readonly #embed: VectorMemoryOptions['embed'];
  readonly #index: VectorIndex;
  readonly #minScore: number;

  constructor({ embed, index = new InMemoryVectorIndex(), minScore = 0 }: VectorMemoryOptions) {
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
      `must give one vector a text: there are ${vectors.length} for ${texts.length}.`,
    );
  }
}

function ownerKey({ appName, userId }: Pick<SessionKey, 'appName' | 'userId'>): string {
  return JSON.stringify([appName, userId]);
}
