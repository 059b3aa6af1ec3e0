import { formatSessionKey, parseIdentity } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import { StoreClosedError } from '../../store/internal.ts';
import type { InjectReceipt, SessionInput, Store } from '../../store/index.ts';
import { RuntimeClosedError } from './runtime-errors.ts';

export interface SubmissionsOptions {
  readonly store: Store;
  /**
   * Gives an input to its session without the inbox. Undefined, or a promise of it: the inbox must take the input.
   * @throws the error of a commit that may have written it
   */
  readonly accept: (one: SessionInput) => Promise<InjectReceipt | undefined> | undefined;
  /** Called before an input is written. The function that it returns is called after the write. */
  readonly onWrite: () => () => void;
  /** Schedules the session that got an input. */
  readonly schedule: (key: SessionKey) => void;
}

/** The inputs that a runtime is writing to its store. A closing runtime waits for them. */
export class Submissions {
  readonly #store: Store;
  readonly #accept: SubmissionsOptions['accept'];
  readonly #onWrite: () => () => void;
  readonly #schedule: (key: SessionKey) => void;
  readonly #running = new Set<Promise<unknown>>();
  /** Resolves when a session has the input that it is being given without its inbox, by session. */
  readonly #accepting = new Map<string, Promise<void>>();
  /** How many writes of this runtime to the inbox of a session run now, by session. */
  readonly #writing = new Map<string, number>();
  #isClosing = false;
  #isClosed = false;

  constructor({ store, accept, onWrite, schedule }: SubmissionsOptions) {
    this.#store = store;
    this.#accept = accept;
    this.#onWrite = onWrite;
    this.#schedule = schedule;
  }

  /**
   * Prepares an input, and gives it to its session or writes it to its inbox.
   * @throws RuntimeClosedError after `close` was called
   */
  async submit(prepare: () => Promise<SessionInput>): Promise<InjectReceipt> {
    return this.run(async () => this.write(await prepare()));
  }

  /**
   * Gives an input to its session, if that is hosted here and at rest: the input is then durable with the step that it
   * causes. Otherwise writes it to the session's inbox. Inputs of one session keep their order.
   * @throws RuntimeClosedError after `close` gave it up
   */
  async write(one: SessionInput): Promise<InjectReceipt> {
    parseIdentity(one.dedupeKey, 'dedupeKey');
    const name = formatSessionKey(one.key);
    // Nothing is awaited between the last look and what follows.
    for (let other; (other = this.#accepting.get(name)) !== undefined;) await other;
    if (this.#isClosed) throw new RuntimeClosedError();
    // It must not overtake an earlier input that is being written.
    const accepted = this.#writing.has(name) ? undefined : this.#accept(one);
    if (accepted === undefined) return this.#inject(one);
    const done = accepted
      .then(async (receipt) => receipt ?? this.#inject(one))
      .finally(() => this.#accepting.delete(name));
    // The sender gets its error.
    this.#accepting.set(name, done.then(ignore, ignore));
    return done;
  }

  async #inject({ key, input, dedupeKey }: SessionInput): Promise<InjectReceipt> {
    if (this.#isClosed) throw new RuntimeClosedError();
    const onDone = this.#onWrite();
    try {
      const receipt = await this.#writeTo([formatSessionKey(key)], async () =>
        this.#store.inject(key, input, dedupeKey),
      );
      this.#schedule(key);
      return receipt;
    } finally {
      onDone();
    }
  }

  /** Writes inputs of several sessions to their inboxes, after those that the sessions are being given without them. */
  async writeBatch<T>(keys: readonly SessionKey[], write: () => Promise<T>): Promise<T> {
    const names = [...new Set(keys.map(formatSessionKey))];
    await Promise.all(
      names.map(async (name) => {
        for (let other; (other = this.#accepting.get(name)) !== undefined;) await other;
      }),
    );
    return this.#writeTo(names, write);
  }

  async #writeTo<T>(names: readonly string[], write: () => Promise<T>): Promise<T> {
    for (const name of names) this.#writing.set(name, (this.#writing.get(name) ?? 0) + 1);
    try {
      return await write();
    } finally {
      for (const name of names) {
        const left = (this.#writing.get(name) ?? 1) - 1;
        if (left === 0) this.#writing.delete(name);
        else this.#writing.set(name, left);
      }
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

function ignore(): void {}
