interface Waiter {
  readonly enter: () => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/**
 * Lets so many in at once, the others in their order. However many wait, nobody is turned away while those inside come
 * out again; when nobody has come out for `stallMs` milliseconds, who waited all that time is refused.
 */
export class FairSemaphore {
  #free: number;
  #released = 0;
  readonly #stallMs: number;
  readonly #createStallError: () => Error;
  readonly #waiting = new Set<Waiter>();

  constructor(places: number, stallMs: number, stalled: () => Error) {
    this.#free = places;
    this.#stallMs = stallMs;
    this.#createStallError = stalled;
  }

  /** Resolves inside, with how to leave. @throws what `stalled` makes */
  async acquire(): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else await this.#wait();
    return () => this.#release();
  }

  async #wait(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      let left = this.#released;
      const checkStall = (): void => {
        if (this.#released === left) {
          this.#waiting.delete(one);
          clearInterval(timer);
          reject(this.#createStallError());
        }
        left = this.#released;
      };
      const timer = setInterval(checkStall, this.#stallMs).unref();
      const one: Waiter = { enter: resolve, timer };
      this.#waiting.add(one);
    });
  }

  #release(): void {
    this.#released++;
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    // The place goes on to the next one, who need not look for it.
    this.#waiting.delete(next);
    clearInterval(next.timer);
    next.enter();
  }
}
