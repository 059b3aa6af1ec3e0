const CHECK_INTERVAL_MS = 500;

/**
 * Keeps the Node process alive while a session is busy or a reader waits for its log. An idle runtime does not keep the
 * process alive.
 */
export class KeepAlive {
  readonly #isBusy: () => boolean;
  #waitingReaders = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  #closed = false;

  /** @param isBusy true while a session is busy; it may look at every session */
  constructor(isBusy: () => boolean) {
    this.#isBusy = isBusy;
  }

  /** Keeps the process alive until a check finds no reason to. */
  hold(): void {
    if (!this.#closed) this.#timer ??= setInterval(() => this.check(), CHECK_INTERVAL_MS);
  }

  /** Counts a reader that starts or stops waiting. */
  readerWaits(waiting: boolean): void {
    this.#waitingReaders += waiting ? 1 : -1;
    if (waiting) this.hold();
  }

  /** Looks at every session, so call it on a timer and not for each input. */
  check(): void {
    if (this.#waitingReaders > 0 || this.#isBusy()) this.hold();
    else this.#release();
  }

  close(): void {
    this.#closed = true;
    this.#release();
  }

  #release(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
