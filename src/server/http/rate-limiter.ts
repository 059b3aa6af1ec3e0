import type { Clock } from '../../net/index.ts';

const MINUTE_MS = 60_000;
/** The least recently used bucket above this number is dropped, so memory stays bounded. */
const MAX_BUCKETS = 10_000;

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

/**
 * Token buckets, one per key: `perMinute` requests per minute, in bursts of up to `perMinute`. It counts in this
 * process only.
 */
export class RateLimiter {
  readonly #perMinute: number;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perMinute: number, clock: Clock) {
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  /** Number of buckets in memory, at most 10,000. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Takes one token. Returns 0, or the seconds until a token is available. */
  take(key: string): number {
    const tokens = this.#tokens(key);
    const seconds = this.#waitSeconds(tokens);
    // Moves the key to the end of the map: the first entry is the least recently used.
    this.#buckets.delete(key);
    this.#buckets.set(key, { tokens: seconds > 0 ? tokens : tokens - 1, at: this.#clock.now() });
    if (this.#buckets.size > MAX_BUCKETS) {
      const [oldest = key] = this.#buckets.keys();
      this.#buckets.delete(oldest);
    }
    return seconds;
  }

  /** As `take`, but takes no token. */
  peek(key: string): number {
    return this.#waitSeconds(this.#tokens(key));
  }

  #tokens(key: string): number {
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) return this.#perMinute;
    const passed = Math.max(0, this.#clock.now() - bucket.at);
    return Math.min(this.#perMinute, bucket.tokens + (passed / MINUTE_MS) * this.#perMinute);
  }

  #waitSeconds(tokens: number): number {
    return tokens >= 1 ? 0 : Math.max(1, Math.ceil(((1 - tokens) / this.#perMinute) * 60));
  }
}
