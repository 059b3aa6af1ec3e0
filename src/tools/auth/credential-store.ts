import type { Json } from '../../core/index.ts';

/**
 * Stores secrets that the program obtains at run time: OAuth tokens and client registrations. A
 * stored value is visible to every process that shares the store, so one authorization serves all
 * of them. Its values never reach a journal or a log.
 */
export interface CredentialStore {
  get(key: string): Promise<Json | undefined>;
  /** Stores a value. The last write of a key wins. */
  put(key: string, value: Json): Promise<void>;
  delete(key: string): Promise<void>;
}

/** Keeps credentials in memory. They are lost when the process ends. */
export class InMemoryCredentialStore implements CredentialStore {
  readonly #values = new Map<string, Json>();

  async get(key: string): Promise<Json | undefined> {
    return this.#values.get(key);
  }

  async put(key: string, value: Json): Promise<void> {
    this.#values.set(key, value);
  }

  async delete(key: string): Promise<void> {
    this.#values.delete(key);
  }
}
