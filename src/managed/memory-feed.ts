import type { SessionKey } from '../core/index.ts';
import type { Observer } from '../runtime/index.ts';
import type { Store } from '../store/index.ts';
import type { MemoryService } from '../tools/index.ts';
import { feedMemory } from '../runner/feed-memory.ts';

export interface MemoryFeedOptions {
  readonly store: Store;
  readonly memory: MemoryService;
  readonly onError?: (error: unknown, key?: SessionKey) => void;
}

/** Gives a memory what was said, at the end of each turn. What a crash left out comes with the next one. */
export class MemoryFeed {
  readonly #options: MemoryFeedOptions;
  readonly #feeding = new Set<Promise<void>>();

  constructor(options: MemoryFeedOptions) {
    this.#options = options;
  }

  readonly observe: Observer = ({ key, events }) => {
    if (!events.some(({ type }) => type === 'turn.ended')) return;
    const feeding = this.#feed(key);
    this.#feeding.add(feeding);
    void feeding.finally(() => this.#feeding.delete(feeding));
  };

  /** Resolves when nothing is on its way any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#feeding);
  }

  async #feed(key: SessionKey): Promise<void> {
    const { store, memory, onError } = this.#options;
    try {
      const row = await store.find(key);
      if (row !== undefined) await feedMemory(store, memory, row);
    } catch (error) {
      // It is given the same again at the end of the next turn.
      onError?.(error, key);
    }
  }
}
