import type { Clock } from '../../net/index.ts';

/**
 * The longest wait, in milliseconds. A process without notices of another one, and a store that shows a change only when
 * earlier transactions have ended, are covered by it.
 */
const MAX_WAIT_MS = 1000;

/** Wakes the streams that follow a store. A stream that is busy when the store changes is woken when it waits next. */
export class ChangeSignal {
  readonly #clock: Clock;
  readonly #onWaiting: (waiting: boolean) => void;
  readonly #resumers = new Set<() => void>();
  /** Counts the notices, so that a stream knows whether one came since it read the store. */
  #notices = 0;

  /** @param onWaiting called with true when a stream begins to wait, and with false when it ends */
  constructor(clock: Clock, onWaiting: (waiting: boolean) => void) {
    this.#clock = clock;
    this.#onWaiting = onWaiting;
  }

  get notices(): number {
    return this.#notices;
  }

  /** Wakes all streams. */
  notify(): void {
    this.#notices++;
    for (const resume of this.#resumers) resume();
  }

  /** Resolves at the next notice after `seen`, after the longest wait, or when the signal aborts. */
  async wait(seen: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#notices !== seen || signal?.aborted === true) return;
    this.#onWaiting(true);
    try {
      await new Promise<void>((resolve) => {
        const cancel = this.#clock.at(this.#clock.now() + MAX_WAIT_MS, () => resume());
        const resume = (): void => {
          this.#resumers.delete(resume);
          signal?.removeEventListener('abort', resume);
          cancel();
          resolve();
        };
        this.#resumers.add(resume);
        signal?.addEventListener('abort', resume, { once: true });
      });
    } finally {
      this.#onWaiting(false);
    }
  }
}
