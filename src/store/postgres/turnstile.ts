interface Waiting {
  readonly enter: () => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/**
 * Lets so many in at once, the others in their order. However many wait, nobody is turned away while those inside come
 * out again; when nobody has come out for `stallMs` milliseconds, who waited all that time is refused.
 */
export class Turnstile {
  #free: number;
  #left = 0;
  readonly #stallMs: number;
  readonly #stalled: () => Error;
  readonly #waiting = new Set<Waiting>();

  constructor(places: number, stallMs: number, stalled: () => Error) {
    this.#free = places;
    this.#stallMs = stallMs;
    this.#stalled = stalled;
  }

  /** Resolves inside, with how to leave. @throws what `stalled` makes */
  async enter(): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else await this.#wait();
    return () => this.#leave();
  }

  async #wait(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      let left = this.#left;
      const look = (): void => {
        if (this.#left === left) {
          this.#waiting.delete(one);
          clearInterval(timer);
          reject(this.#stalled());
        }
        left = this.#left;
      };
      const timer = setInterval(look, this.#stallMs).unref();
      const one: Waiting = { enter: resolve, timer };
      this.#waiting.add(one);
    });
  }

  #leave(): void {
    this.#left++;
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
