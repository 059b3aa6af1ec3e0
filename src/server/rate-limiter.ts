import type { Clock } from '../net/index.ts';

const MINUTE_MS = 60_000;
/** So many keys are remembered; whoever has not come for a minute is forgotten. */
const MAX_BUCKETS = 10_000;

interface Bucket {
  tokens: number;
  at: number;
}

/** So many requests a minute for each key, and as many at once. */
export class RateLimiter {
  readonly #perMinute: number;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perMinute: number, clock: Clock) {
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  /** 0 when there is room, else the seconds until there is. */
  take(key: string): number {
    const now = this.#clock.now();
    const bucket = this.#buckets.get(key) ?? { tokens: this.#perMinute, at: now };
    const refilled = bucket.tokens + ((now - bucket.at) / MINUTE_MS) * this.#perMinute;
    bucket.tokens = Math.min(this.#perMinute, refilled);
    bucket.at = now;
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > MAX_BUCKETS) this.#forget(now);
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return 0;
    }
    return Math.max(1, Math.ceil(((1 - bucket.tokens) / this.#perMinute) * 60));
  }

  #forget(now: number): void {
    for (const [key, { at }] of this.#buckets) if (now - at > MINUTE_MS) this.#buckets.delete(key);
  }
}
