import type { SessionKey } from '../../core/identity/session-key.ts';
import type { StoreListener } from '../store.ts';

/** Tells listeners what changed. One that throws harms neither the others nor what was committed. */
export class ChangeFeed {
  readonly #listeners = new Set<StoreListener>();

  get size(): number {
    return this.#listeners.size;
  }

  add(listener: StoreListener): () => void {
    // A fresh function each time: the same listener may subscribe twice.
    const own: StoreListener = (changed) => listener(changed);
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  clear(): void {
    this.#listeners.clear();
  }

  publish(changed: 'any' | readonly SessionKey[]): void {
    if (changed.length === 0) return;
    for (const listener of this.#listeners) {
      try {
        listener(changed);
      } catch (error) {
        // As with an event target: the fault is the listener's, so it surfaces as an uncaught error.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
