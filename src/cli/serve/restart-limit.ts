import type { Clock } from '../../net/index.ts';

/** All workers together are started again at most so often in a minute. */
const RESTARTS_PER_MINUTE = 10;
const MINUTE_MS = 60_000;
/** The second restart of a minute waits this long, the third twice as long. */
const DELAY_MS = 1000;

/** How often, and how fast, workers that died are started again. */
export class RestartLimit {
  readonly #clock: Clock;
  #restarts: readonly number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds until the next restart. Undefined: there were too many in the last minute. */
  next(): number | undefined {
    const now = this.#clock.now();
    const recent = this.#restarts.filter((at) => at > now - MINUTE_MS);
    if (recent.length >= RESTARTS_PER_MINUTE) return undefined;
    this.#restarts = [...recent, now];
    return DELAY_MS * recent.length;
  }
}
