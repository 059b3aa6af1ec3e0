import { formatSessionKey, safeListener } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';

/** A resource that runs one session, and is closed when the session ends. */
export interface RegisteredSession {
  close(): Promise<void>;
}

/**
 * Holds one runner per session, created on first use. `getOrCreate` is the only way to add one, so
 * every runner has an owner that ends it.
 */
export interface SessionRegistry<R extends RegisteredSession> extends AsyncDisposable {
  readonly size: number;
  /** Returns the session's runner, or creates it. A runner that cannot be created is not stored. */
  getOrCreate(key: SessionKey, owner: object, create: () => Promise<R>): Promise<R>;
  /** Closes the session's runner. False if there is none. */
  close(key: SessionKey): Promise<boolean>;
}

interface Entry<R> {
  readonly runner: Promise<R>;
  /** Undoes the binding to the owner. */
  readonly release: () => void;
}

class Registry<R extends RegisteredSession> implements SessionRegistry<R> {
  readonly #entries = new Map<string, Entry<R>>();
  /** Ends an entry with its owner. Returns a function that undoes this. */
  readonly #bindToOwner: (owner: object, end: () => void) => () => void;
  readonly #onError: (error: unknown) => void;

  constructor(
    bind: (owner: object, end: () => void) => () => void,
    onError: (error: unknown) => void,
  ) {
    this.#bindToOwner = bind;
    this.#onError = onError;
  }

  get size(): number {
    return this.#entries.size;
  }

  async getOrCreate(key: SessionKey, owner: object, create: () => Promise<R>): Promise<R> {
    const name = formatSessionKey(key);
    const known = this.#entries.get(name);
    if (known !== undefined) return known.runner;
    const runner = create();
    const entry = { runner, release: this.#bindToOwner(owner, () => void this.#end(name, entry)) };
    this.#entries.set(name, entry);
    try {
      return await runner;
    } catch (error) {
      entry.release();
      if (this.#entries.get(name) === entry) this.#entries.delete(name);
      throw error;
    }
  }

  async close(key: SessionKey): Promise<boolean> {
    const name = formatSessionKey(key);
    const entry = this.#entries.get(name);
    if (entry === undefined) return false;
    await this.#close(name, entry);
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closing = [...this.#entries].map(async ([name, entry]) => this.#close(name, entry));
    for (const closed of await Promise.allSettled(closing))
      if (closed.status === 'rejected') this.#onError(closed.reason);
  }

  async #end(name: string, entry: Entry<R>): Promise<void> {
    await this.#close(name, entry).catch(this.#onError);
  }

  async #close(name: string, entry: Entry<R>): Promise<void> {
    if (this.#entries.get(name) === entry) this.#entries.delete(name);
    entry.release();
    const runner = await entry.runner.catch(() => undefined);
    await runner?.close();
  }
}

/**
 * Ends a runner when its owner is garbage-collected. It is one for the process: a registry's own
 * could be collected together with the owner, and would then never run.
 */
const finalizers = new FinalizationRegistry<() => void>((end) => end());

/** Options of the session registries. */
export interface RegistryOptions {
  /** Receives the errors of runners that fail to close. Default: ignored. */
  readonly onError?: (error: unknown) => void;
}

/** Creates a registry whose runners end when their owner is garbage-collected, or on `close`. */
export function cleanerOwned<R extends RegisteredSession>(
  options: RegistryOptions = {},
): SessionRegistry<R> {
  return new Registry<R>(
    (owner, end) => {
      const token = {};
      finalizers.register(owner, end, token);
      return () => finalizers.unregister(token);
    },
    safeListener('onError', options.onError),
  );
}

/**
 * Creates a registry whose runners end only on `close`: for programs without an object that lives
 * as long as a session.
 */
export function strongOwned<R extends RegisteredSession>(
  options: RegistryOptions = {},
): SessionRegistry<R> {
  return new Registry<R>(() => () => {}, safeListener('onError', options.onError));
}
