import { formatSessionKey, safeListener } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';

/** What runs one session, and is to be closed when the session is let go. */
export interface RegisteredSession {
  close(): Promise<void>;
}

/**
 * One runner for each session, made when it is first needed. There is no other way in than `getOrCreate`, so no runner
 * is here without its end.
 */
export interface SessionRegistry<R extends RegisteredSession> extends AsyncDisposable {
  readonly size: number;
  /** The session's runner: the one that is there, or a new one. A runner that cannot be made is not kept. */
  getOrCreate(key: SessionKey, owner: object, create: () => Promise<R>): Promise<R>;
  /** Ends the session's runner; false when there is none. */
  close(key: SessionKey): Promise<boolean>;
}

interface Entry<R> {
  readonly runner: Promise<R>;
  /** What `close` must undo beside the runner. */
  readonly release: () => void;
}

class Registry<R extends RegisteredSession> implements SessionRegistry<R> {
  readonly #entries = new Map<string, Entry<R>>();
  /** Ties the end of an entry to its owner, and says how to untie it. */
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
 * Calls what ends a runner when its owner is gone. One for the process: were it a registry's own, both could be gone
 * with the owner, and nobody would be left to call.
 */
const finalizers = new FinalizationRegistry<() => void>((end) => end());

/** Who hears of trouble when runners end; nobody unless said. */
export interface RegistryOptions {
  /** Hears of runners that did not close as they should. */
  readonly onError?: (error: unknown) => void;
}

/** Runners that end by themselves when their owner is no longer reachable, or before that by `close`. */
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

/** Runners that end by `close` alone: for programs without an object that lives as long as a session. */
export function strongOwned<R extends RegisteredSession>(
  options: RegistryOptions = {},
): SessionRegistry<R> {
  return new Registry<R>(() => () => {}, safeListener('onError', options.onError));
}
