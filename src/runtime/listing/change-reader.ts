import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../../net/index.ts';
import type { SessionChangePage, Store } from '../../store/index.ts';
import { ChangeSignal } from './change-signal.ts';

export interface ChangePage extends SessionChangePage {
  /** How many notices of the store came before the page was read. */
  readonly notices: number;
}

export interface ChangeReaderOptions {
  readonly store: Store;
  readonly app: string;
  readonly clock: Clock;
  /** Called with true when a read begins to wait for a change, and with false when it ends. */
  readonly onWaiting: (waiting: boolean) => void;
  /** The time of the pauses between reads. Default: real time, because no session depends on it. */
  readonly timer?: PauseTimer;
}

export interface PauseTimer {
  /** Milliseconds since an arbitrary moment. */
  readonly now: () => number;
  /** Waits. It may reject when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

const REAL_TIME: PauseTimer = {
  now: () => performance.now(),
  sleep: async (ms, signal) => setTimeout(ms, undefined, { signal }),
};

/** How many changes are read at once. It bounds the memory of a stream, however slow its reader is. */
const PAGE_SIZE = 100;

/**
 * The least time between two reads, in milliseconds for each stream that waits. What a change costs grows with the number
 * of streams, so their share of the processor's time stays the same.
 */
const PAUSE_PER_STREAM_MS = 5;
const MAX_PAUSE_MS = 1000;

/** A read that has not begun. Everybody who waits for changes after the same position shares it. */
interface SharedRead {
  readonly page: Promise<ChangePage | undefined>;
  readonly aborted: AbortController;
  streams: number;
}

/**
 * Reads the changes of a store for all streams that follow it. Streams at the same position share one read and its rows.
 * Changes during a read, and in the pause after it, are in the next one. After a quiet time a change is read at once.
 */
export class ChangeReader {
  readonly #options: ChangeReaderOptions;
  readonly #timer: PauseTimer;
  readonly #signal: ChangeSignal;
  readonly #closed = new AbortController();
  readonly #waiting = new Map<string, SharedRead>();
  #lastReadAt = -Infinity;

  constructor(options: ChangeReaderOptions) {
    this.#options = options;
    this.#timer = options.timer ?? REAL_TIME;
    this.#signal = new ChangeSignal(options.clock, options.onWaiting);
  }

  /** Tells that the store has changed. */
  notify(): void {
    this.#signal.notify();
  }

  /** Ends all streams. */
  close(): void {
    this.#closed.abort();
    for (const { aborted } of this.#waiting.values()) aborted.abort();
  }

  get isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  /** Returns the position of the newest change. */
  async findEnd(): Promise<string> {
    const { store, app: appName } = this.#options;
    return (await store.changes({ appName, limit: 1 })).cursor;
  }

  /** Reads a page of the changes after a position. */
  async read(after: string): Promise<ChangePage> {
    const { store, app: appName } = this.#options;
    const { notices } = this.#signal;
    return { ...(await store.changes({ appName, after, limit: PAGE_SIZE })), notices };
  }

  /**
   * Waits for another notice than the `seen` ones, and reads the changes after the position. Undefined when the signal aborts or the reader is closed.
   */
  async next(
    after: string,
    seen: number,
    signal: AbortSignal | undefined,
  ): Promise<ChangePage | undefined> {
    if (this.isClosed || signal?.aborted === true) return undefined;
    const shared = this.#waiting.get(after) ?? this.#wait(after, seen);
    shared.streams++;
    const left = Promise.withResolvers<undefined>();
    const leave = (): void => left.resolve(undefined);
    signal?.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([shared.page, left.promise]);
    } finally {
      signal?.removeEventListener('abort', leave);
      shared.streams--;
      if (shared.streams === 0) shared.aborted.abort();
    }
  }

  #wait(after: string, seen: number): SharedRead {
    const aborted = new AbortController();
    const forget = (): void => {
      if (this.#waiting.get(after) === shared) this.#waiting.delete(after);
    };
    const readNext = async (): Promise<ChangePage | undefined> => {
      await this.#signal.wait(seen, aborted.signal);
      await this.#pause(shared);
      // A stream that comes from here on may have seen more than this read will.
      forget();
      if (aborted.signal.aborted) return undefined;
      this.#lastReadAt = this.#timer.now();
      return this.read(after);
    };
    // The read begins when the first stream is counted.
    const page = Promise.resolve().then(readNext);
    const shared: SharedRead = { page, aborted, streams: 0 };
    page.catch(() => undefined);
    aborted.signal.addEventListener('abort', forget, { once: true });
    this.#waiting.set(after, shared);
    return shared;
  }

  async #pause({ aborted: { signal }, streams }: SharedRead): Promise<void> {
    const pauseMs = Math.min(streams * PAUSE_PER_STREAM_MS, MAX_PAUSE_MS);
    const leftMs = this.#lastReadAt + pauseMs - this.#timer.now();
    if (leftMs <= 0 || signal.aborted) return;
    await this.#timer.sleep(leftMs, signal).catch(() => undefined);
  }
}
