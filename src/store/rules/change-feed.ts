import type { SessionKey } from '../../core/index.ts';
import type { ChangeOrigin, StoreListener } from '../store.ts';

/** Publishes changes to listeners. A listener that throws affects neither the other listeners nor the commit. */
export class ChangeFeed {
  readonly #listeners = new Set<StoreListener>();

  get size(): number {
    return this.#listeners.size;
  }

  add(listener: StoreListener): () => void {
    // A new function each time, because the same listener may subscribe twice.
    const registered: StoreListener = (changed, origin) => listener(changed, origin);
    this.#listeners.add(registered);
    return () => {
      this.#listeners.delete(registered);
    };
  }

  clear(): void {
    this.#listeners.clear();
  }

  publish(
    changed: 'any' | readonly SessionKey[],
    origin: ChangeOrigin = changed === 'any' ? 'input' : 'here',
  ): void {
    if (changed.length === 0) return;
    for (const listener of this.#listeners) {
      try {
        listener(changed, origin);
      } catch (error) {
        // As with an EventTarget, a bug in a listener surfaces as an uncaught error.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
