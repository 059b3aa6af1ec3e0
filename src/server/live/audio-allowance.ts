import type { Clock } from '../../net/index.ts';

/** How much more than real time a client may send over a long time, for clocks that differ. */
const SPEED = 1.25;
/** Audio that a client may send at once, for example what it recorded while it had no connection. */
const BURST_SECONDS = 10;

/** Limits the audio of a client to real time, with bursts of ten seconds. */
export class AudioAllowance {
  readonly #bytesPerSecond: number;
  readonly #clock: Clock;
  #bytes: number;
  #at: number;

  constructor(inputRate: number, clock: Clock) {
    this.#bytesPerSecond = 2 * inputRate;
    this.#clock = clock;
    this.#bytes = BURST_SECONDS * this.#bytesPerSecond;
    this.#at = clock.now();
  }

  /** Takes the bytes of a frame. Returns false when the client sends too fast. */
  take(bytes: number): boolean {
    const now = this.#clock.now();
    const passed = (Math.max(0, now - this.#at) / 1000) * SPEED * this.#bytesPerSecond;
    this.#at = now;
    this.#bytes = Math.min(BURST_SECONDS * this.#bytesPerSecond, this.#bytes + passed) - bytes;
    return this.#bytes >= 0;
  }
}
