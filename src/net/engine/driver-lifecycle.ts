/**
 * The life of a driver. It is open, then closing, then stopped. Until it is stopped it is idle, scheduled or settling.
 * While it is held it does not become scheduled.
 */
export class DriverLifecycle {
  #phase: 'open' | 'closing' | 'stopped' = 'open';
  #work: 'idle' | 'scheduled' | 'settling' = 'idle';
  #isHeld = false;
  #waiters: (() => void)[] = [];

  get isStopped(): boolean {
    return this.#phase === 'stopped';
  }

  get isClosing(): boolean {
    return this.#phase === 'closing';
  }

  get isIdle(): boolean {
    return !this.isStopped && this.#work === 'idle';
  }

  get isSettling(): boolean {
    return !this.isStopped && this.#work === 'settling';
  }

  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
  }

  /** @returns false if a run is scheduled or in progress already, or must not be scheduled now */
  schedule(): boolean {
    if (!this.isIdle || this.#isHeld) return false;
    this.#work = 'scheduled';
    return true;
  }

  /** @returns false if the driver was stopped */
  beginSettling(): boolean {
    if (this.isStopped) return false;
    this.#work = 'settling';
    return true;
  }

  /** @returns false if the driver was stopped */
  endSettling(): boolean {
    if (this.isStopped) return false;
    this.#work = 'idle';
    return true;
  }

  close(): void {
    if (!this.isStopped) this.#phase = 'closing';
  }

  stop(): void {
    this.#phase = 'stopped';
    this.notifyIdle();
  }

  /** Resolves when the driver is idle or stopped. */
  async whenIdle(): Promise<void> {
    while (!this.isIdle && !this.isStopped) {
      await this.nextIdle();
    }
  }

  /** Resolves when the driver becomes idle the next time, or is stopped. */
  async nextIdle(): Promise<void> {
    await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /** Wakes the callers of `whenIdle` and `nextIdle`. */
  notifyIdle(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }
}
