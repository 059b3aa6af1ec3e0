/**
 * Reads a value for callers that come at the same time. A read that has begun may miss what was written just before a
 * caller came, so it serves only those who came before it began; all others share the next one.
 */
export class NextRead<T> {
  readonly #read: () => Promise<T>;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<T> | undefined;
  #waiting = 0;

  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  /** Resolves with a value that was read after this call. */
  async get(): Promise<T> {
    this.#next ??= this.#start();
    this.#waiting++;
    try {
      return await this.#next;
    } finally {
      this.#waiting--;
    }
  }

  /** True if nobody waits for a value. */
  get isIdle(): boolean {
    return this.#waiting === 0;
  }

  async #start(): Promise<T> {
    const before = this.#running;
    const started = (async () => {
      await before.catch(() => {});
      this.#next = undefined;
      return this.#read();
    })();
    this.#running = started;
    return started;
  }
}
