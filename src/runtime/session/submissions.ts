import type { Clock } from '../../net/index.ts';
import { StoreClosedError } from '../../store/internal.ts';
import { RuntimeClosedError } from './runtime-errors.ts';

/** The inputs that a runtime is writing to its store. A closing runtime waits for them. */
export class Submissions {
  readonly #running = new Set<Promise<unknown>>();
  #isClosing = false;
  #isClosed = false;

  /**
   * Runs the whole submission of an input: it reads what it needs, and writes the input.
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

  /** A running submission calls this before it writes. @throws RuntimeClosedError after `close` gave it up */
  assertCanWrite(): void {
    if (this.#isClosed) throw new RuntimeClosedError();
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
