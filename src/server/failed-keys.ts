import { sha256Hex } from '../core/index.ts';
import type { Clock } from '../net/index.ts';
import { networkOfClient } from './client-address.ts';
import { RateLimiter } from './rate-limiter.ts';
import { WireError } from './wire-error.ts';

/** So many keys that were right lately are remembered, each by its hash. */
const MAX_RIGHT = 1000;

/**
 * Limits how many wrong keys an address may try. Above that, a key is not looked up any more, unless it was right lately:
 * so one client that guesses does not lock out the others behind its address. What is remembered is bounded.
 */
export class FailedKeys {
  readonly #limiter: RateLimiter;
  readonly #right = new Set<string>();

  constructor(perMinute: number, clock: Clock) {
    this.#limiter = new RateLimiter(perMinute, clock);
  }

  /** Is called before a key is looked up. @throws WireError 429 */
  check(address: string, token: string): void {
    const seconds = this.#limiter.wait(networkOfClient(address));
    if (seconds === 0 || this.#right.has(sha256Hex(token))) return;
    throw new WireError(
      429,
      `Too many requests with an invalid key came from this address: wait ${seconds} s.`,
      { retryAfterSeconds: seconds },
    );
  }

  failed(address: string): void {
    this.#limiter.take(networkOfClient(address));
  }

  succeeded(token: string): void {
    const hash = sha256Hex(token);
    this.#right.delete(hash);
    this.#right.add(hash);
    if (this.#right.size <= MAX_RIGHT) return;
    const [oldest = hash] = this.#right;
    this.#right.delete(oldest);
  }
}
