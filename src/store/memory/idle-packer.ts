/** A store without a commit for so long is idle. */
const IDLE_MS = 1000;
/** Sessions packed without a pause: about a millisecond. */
const SLICE = 20;
/** With more sessions that are not packed, the one that has rested longest is packed at each commit. */
const MAX_UNPACKED = 10_000;

/** Calls `run` after a delay, unless it was canceled. The default does not keep the process alive. */
export type ScheduleRun = (run: () => void, delayMs: number) => { readonly cancel: () => void };

/**
 * Packs sessions while the store is idle, because packing takes a tenth of the time of a turn in memory. The session that
 * has rested longest comes first.
 */
export class IdlePacker<T extends { pack: () => void }> {
  readonly #unpacked = new Set<T>();
  readonly #schedule: ScheduleRun;
  #scheduled: { readonly cancel: () => void } | undefined;
  #isTouched = false;

  constructor(schedule: ScheduleRun = scheduleUnref) {
    this.#schedule = schedule;
  }

  /** Must be called after every step of a session. */
  touch(session: T): void {
    this.#unpacked.delete(session);
    this.#unpacked.add(session);
    this.#isTouched = true;
    if (this.#unpacked.size > MAX_UNPACKED) this.#packOldest(1);
    if (this.#scheduled === undefined) this.#runIn(IDLE_MS);
  }

  /** Forgets a deleted session. */
  remove(session: T): void {
    this.#unpacked.delete(session);
  }

  stop(): void {
    this.#scheduled?.cancel();
    this.#unpacked.clear();
  }

  #run(): void {
    this.#scheduled = undefined;
    const isIdle = !this.#isTouched;
    this.#isTouched = false;
    if (isIdle) this.#packOldest(SLICE);
    if (this.#unpacked.size > 0) this.#runIn(isIdle ? 0 : IDLE_MS);
  }

  #runIn(delayMs: number): void {
    this.#scheduled = this.#schedule(() => this.#run(), delayMs);
  }

  #packOldest(count: number): void {
    let left = count;
    for (const session of this.#unpacked) {
      if (left-- === 0) return;
      session.pack();
      this.#unpacked.delete(session);
    }
  }
}

function scheduleUnref(run: () => void, delayMs: number): { readonly cancel: () => void } {
  const timer = setTimeout(run, delayMs);
  timer.unref();
  return { cancel: () => clearTimeout(timer) };
}
