import type { SessionKey } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import { StoreClosedError } from '../../store/internal.ts';
import type { InjectReceipt, SessionInput, Store } from '../../store/index.ts';
import { RuntimeClosedError } from './runtime-errors.ts';

export interface SubmissionsOptions {
  readonly store: Store;
  /** Called before an input is written. The function that it returns is called after the write. */
  readonly onWrite: () => () => void;
  /** Schedules the session that got an input. */
  readonly schedule: (key: SessionKey) => void;
}

/** The inputs that a runtime is writing to its store. A closing runtime waits for them. */
export class Submissions {
  readonly #store: Store;
  readonly #onWrite: () => () => void;
  readonly #schedule: (key: SessionKey) => void;
  readonly #running = new Set<Promise<unknown>>();
  #isClosing = false;
  #isClosed = false;

  constructor({ store, onWrite, schedule }: SubmissionsOptions) {
    this.#store = store;
    this.#onWrite = onWrite;
    this.#schedule = schedule;
  }

  /**
   * Prepares an input and writes it to its session's inbox.
   * @throws RuntimeClosedError after `close` was called
   */
  async submit(prepare: () => Promise<SessionInput>): Promise<InjectReceipt> {
    return this.run(async () => this.write(await prepare()));
  }

  /** Writes an input to its session's inbox. @throws RuntimeClosedError after `close` gave it up */
  async write({ key, input, dedupeKey }: SessionInput): Promise<InjectReceipt> {
    if (this.#isClosed) throw new RuntimeClosedError();
    const onDone = this.#onWrite();
    try {
      const receipt = await this.#store.inject(key, input, dedupeKey);
      this.#schedule(key);
      return receipt;
    } finally {
      onDone();
    }
  }

  /**
   * Runs the whole submission of inputs: it reads what it needs, and writes them.
   * @throws RuntimeClosedError after `close` was called
   */
  async run<T>(submit: () => Promise<T>): Promise<T> {
    if (this.#isClosing) throw new RuntimeClosedError();
    const running = submit();
    this.#running.add(running);
    try {
      return await running;
    } catch (error) {
      if (this.#isClosed && error instanceof StoreClosedError) throw new RuntimeClosedError();
      throw error;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Refuses new submissions. Resolves when the running ones have settled, or after `timeoutMs`. */
  async close(clock: Clock, timeoutMs: number): Promise<void> {
    this.#isClosing = true;
    if (this.#running.size > 0) {
      const timeout = Promise.withResolvers<void>();
      const cancel = clock.at(clock.now() + timeoutMs, timeout.resolve);
      await Promise.race([Promise.allSettled(this.#running), timeout.promise]);
      cancel();
    }
    this.#isClosed = true;
  }
}
