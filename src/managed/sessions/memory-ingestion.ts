import type { SessionKey } from '../../core/index.ts';
import type { Observer } from '../../runtime/index.ts';
import type { Store } from '../../store/index.ts';
import type { MemoryService } from '../../tools/index.ts';
import { ingestMemory } from '../../runtime/internal.ts';

export interface MemoryIngestionOptions {
  readonly store: Store;
  readonly memory: MemoryService;
  readonly onError?: (error: unknown, key?: SessionKey) => void;
}

/** Adds the conversation to a memory at the end of each turn. What a crash left out is added after the next turn. */
export class MemoryIngestion {
  readonly #options: MemoryIngestionOptions;
  readonly #ingesting = new Set<Promise<void>>();

  constructor(options: MemoryIngestionOptions) {
    this.#options = options;
  }

  readonly observe: Observer = ({ key, events }) => {
    if (!events.some(({ type }) => type === 'turn.ended')) return;
    const ingesting = this.#ingest(key);
    this.#ingesting.add(ingesting);
    void ingesting.finally(() => this.#ingesting.delete(ingesting));
  };

  /** Resolves when no ingestion is running. */
  async drain(): Promise<void> {
    await Promise.all(this.#ingesting);
  }

  async #ingest(key: SessionKey): Promise<void> {
    const { store, memory, onError } = this.#options;
    try {
      const row = await store.find(key);
      if (row !== undefined) await ingestMemory(store, memory, row);
    } catch (error) {
      // The next turn's ingestion includes the same events again.
      onError?.(error, key);
    }
  }
}
