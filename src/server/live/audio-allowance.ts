import type { Clock } from '../../net/index.ts';

/** How much more than real time a client may send over a long time, for clocks that differ. */
const SPEED = 1.25;
/** Audio that a client may send at once, for example what it recorded while it had no connection. */
const BURST_MS = 10_000;
/** Shorter frames count as much as one of this length. */
const MIN_FRAME_MS = 2;

/** Limits the audio of a client to real time, with bursts of ten seconds. */
export class AudioAllowance {
  readonly #clock: Clock;
  #ms = BURST_MS;
  #at: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#at = clock.now();
  }

  /** Takes a frame, by its duration in milliseconds. Returns false when the client sends too fast. */
  take(ms: number): boolean {
    const now = this.#clock.now();
    const passed = Math.max(0, now - this.#at) * SPEED;
    this.#at = now;
    this.#ms = Math.min(BURST_MS, this.#ms + passed) - Math.max(ms, MIN_FRAME_MS);
    return this.#ms >= 0;
  }
}
