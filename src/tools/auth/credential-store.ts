import type { Json } from '../../core/index.ts';

/**
 * Where secrets that a program obtains are kept: tokens, registrations. What is put is there for whoever asks next, in
 * whichever process: then nobody has to sign in again. It never reaches a journal or a log.
 */
export interface CredentialStore {
  get(key: string): Promise<Json | undefined>;
  /** The last put of a key counts. */
  put(key: string, value: Json): Promise<void>;
  delete(key: string): Promise<void>;
}

/** Credentials that end with the process. */
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
