interface Waiter {
  readonly enter: () => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/**
 * A semaphore with a first-in, first-out queue. A waiter fails only after it has waited `stallMs` milliseconds in which
 * no permit was released. So a long queue that makes progress does not cause errors.
 */
export class FairSemaphore {
  #free: number;
  #released = 0;
  readonly #stallMs: number;
  readonly #createStallError: () => Error;
  readonly #waiting = new Set<Waiter>();

  constructor(permits: number, stallMs: number, createStallError: () => Error) {
    this.#free = permits;
    this.#stallMs = stallMs;
    this.#createStallError = createStallError;
  }

  /** Resolves with the function that releases the permit. @throws the error of `createStallError` */
  async acquire(): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else await this.#wait();
    return () => this.#release();
  }

  async #wait(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      let lastReleased = this.#released;
      const checkStall = (): void => {
        if (this.#released === lastReleased) {
          this.#waiting.delete(waiter);
          clearInterval(timer);
          reject(this.#createStallError());
        }
        lastReleased = this.#released;
      };
      const timer = setInterval(checkStall, this.#stallMs).unref();
      const waiter: Waiter = { enter: resolve, timer };
      this.#waiting.add(waiter);
    });
  }

  #release(): void {
    this.#released++;
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    // Hand the permit directly to the next waiter, so that no newcomer takes it first.
    this.#waiting.delete(next);
    clearInterval(next.timer);
    next.enter();
  }
}
