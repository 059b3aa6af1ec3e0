import { formatSessionKey, type SessionKey } from '../../core/identity/session-key.ts';
import { systemClock, type Clock } from '../../net/clock/clock.ts';

/** Decides when a session is driven. One session is never driven twice at once. */
export interface Dispatcher {
  /** Drives the session as soon as it is not being driven, or at a time (epoch ms), whichever was asked for earliest. */
  schedule(key: SessionKey, at?: number): void;

  /** Forgets what was asked for this session. A drive that runs goes on. */
  cancel(key: SessionKey): void;

  /** Starts no more drives, and resolves when those that run have ended. */
  close(): Promise<void>;
}

/** How a dispatcher drives a session, and who hears when that fails. */
export interface DispatcherOptions {
  /** Brings a session as far as it goes now. */
  readonly drive: (key: SessionKey) => Promise<void>;
  /** Hears what a drive rejects with: the dispatcher goes on. */
  readonly onError: (key: SessionKey, error: unknown) => void;
  /** Says when it is time; the clock of the machine unless given. */
  readonly clock?: Clock;
}

/** Makes a dispatcher that drives sessions in this process. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new LocalDispatcher(options);
}

interface Entry {
  readonly key: SessionKey;
  /** When to drive it next; undefined for not at all. */
  at: number | undefined;
  running: Promise<void> | undefined;
}

class LocalDispatcher implements Dispatcher {
  readonly #drive: (key: SessionKey) => Promise<void>;
  readonly #onError: (key: SessionKey, error: unknown) => void;
  readonly #clock: Clock;
  /** Only sessions that run or will: an idle one has no entry. */
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

  /** Drives the session if it is time, else sees to it that someone looks when it is. */
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
      // Not within the call that woke it.
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

  /** One alarm for all: the earliest. */
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
