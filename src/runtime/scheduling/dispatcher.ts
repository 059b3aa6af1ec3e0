import { formatSessionKey, type SessionKey } from '../../core/index.ts';
import { systemClock, type Clock } from '../../net/index.ts';

/** Decides when a session is driven. A session is never driven twice at the same time. */
export interface Dispatcher {
  /**
   * Drives the session at `at` (epoch ms), or now. While the session is being driven, waits until that drive ends. Of
   * several requests the earliest counts. Ignored after `close`.
   */
  schedule(key: SessionKey, at?: number): void;

  /** Cancels the scheduled drive of this session. A drive in progress continues. */
  cancel(key: SessionKey): void;

  /** Starts no more drives. Resolves when the drives in progress have ended. */
  close(): Promise<void>;
}

/** The options of {@link createDispatcher}. */
export interface DispatcherOptions {
  /** Does all work of a session that can be done now. */
  readonly drive: (key: SessionKey) => Promise<void>;
  /** Receives the error of a failed drive. The dispatcher continues. */
  readonly onError: (key: SessionKey, error: unknown) => void;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/** Creates a dispatcher that drives sessions in this process. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new LocalDispatcher(options);
}

interface Entry {
  readonly key: SessionKey;
  /** When to drive the session next (epoch ms). Undefined: not scheduled. */
  at: number | undefined;
  running: Promise<void> | undefined;
}

class LocalDispatcher implements Dispatcher {
  readonly #drive: (key: SessionKey) => Promise<void>;
  readonly #onError: (key: SessionKey, error: unknown) => void;
  readonly #clock: Clock;
  /** Sessions that are being driven or are scheduled. An idle session has no entry. */
  readonly #entries = new Map<string, Entry>();
  #alarm: { readonly at: number; readonly cancel: () => void } | undefined;
  #closed = false;

  constructor({ drive, onError, clock = systemClock }: DispatcherOptions) {
    this.#drive = drive;
    this.#onError = onError;
    this.#clock = clock;
  }

  schedule(key: SessionKey, at: number = -Infinity): void {
    if (this.#closed) return;
    const name = formatSessionKey(key);
    const entry = this.#entries.get(name) ?? { key, at: undefined, running: undefined };
    this.#entries.set(name, entry);
    entry.at = Math.min(entry.at ?? Infinity, at);
    this.#start(name, entry);
  }

  cancel(key: SessionKey): void {
    const name = formatSessionKey(key);
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    entry.at = undefined;
    this.#removeIfIdle(name, entry);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#alarm?.cancel();
    this.#alarm = undefined;
    await Promise.all([...this.#entries.values()].flatMap(({ running }) => running ?? []));
    this.#entries.clear();
  }

  /** Drives the session if its time has come; otherwise sets the alarm. */
  #start(name: string, entry: Entry): void {
    if (this.#closed || entry.running !== undefined || entry.at === undefined) return;
    if (entry.at > this.#clock.now()) {
      this.#setAlarm(entry.at);
      return;
    }
    entry.at = undefined;
    entry.running = this.#run(name, entry);
  }

  async #run(name: string, entry: Entry): Promise<void> {
    try {
      // Never drive inside the call to `schedule`.
      await Promise.resolve();
      if (!this.#closed) await this.#drive(entry.key);
    } catch (error) {
      this.#onError(entry.key, error);
    } finally {
      entry.running = undefined;
      this.#start(name, entry);
      this.#removeIfIdle(name, entry);
    }
  }

  #removeIfIdle(name: string, entry: Entry): void {
    if (entry.at === undefined && entry.running === undefined) this.#entries.delete(name);
  }

  /** Keeps one alarm for all sessions, at the earliest time. */
  #setAlarm(at: number): void {
    if (this.#alarm !== undefined && this.#alarm.at <= at) return;
    this.#alarm?.cancel();
    const cancel = this.#clock.at(at, () => {
      this.#alarm = undefined;
      for (const [name, entry] of this.#entries) this.#start(name, entry);
    });
    this.#alarm = { at, cancel };
  }
}
