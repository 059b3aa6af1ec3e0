import type { Clock } from '../../net/index.ts';

const MINUTE_MS = 60_000;
/** So many are remembered; of more, the one that came longest ago is forgotten. */
const MAX_BUCKETS = 10_000;

interface Bucket {
  readonly tokens: number;
  readonly at: number;
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

  /** How many are remembered; bounded, whoever comes. */
  get size(): number {
    return this.#buckets.size;
  }

  /** 0 when there is room, else the seconds until there is. */
  take(key: string): number {
    const tokens = this.#tokens(key);
    const seconds = this.#waitSeconds(tokens);
    // The last that came is the last in the map.
    this.#buckets.delete(key);
    this.#buckets.set(key, { tokens: seconds > 0 ? tokens : tokens - 1, at: this.#clock.now() });
    if (this.#buckets.size > MAX_BUCKETS) {
      const [oldest = key] = this.#buckets.keys();
      this.#buckets.delete(oldest);
    }
    return seconds;
  }

  /** As `take`, but nothing is taken. */
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
