import { sha256Hex } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import { clientNetwork } from '../http/client-address.ts';
import { HttpError } from '../http/http-error.ts';
import { RateLimiter } from '../http/rate-limiter.ts';

/** How many recently valid keys are remembered, by their hashes. */
const MAX_VALID_KEYS = 1000;

/**
 * Limits how many invalid keys an address may try. Above the limit, keys from that address are not looked up, except
 * keys that were valid recently: one client that guesses does not lock out others behind the same address. Its memory
 * is bounded.
 */
export class FailedKeyLimiter {
  readonly #limiter: RateLimiter;
  readonly #validKeyHashes = new Set<string>();

  constructor(perMinute: number, clock: Clock) {
    this.#limiter = new RateLimiter(perMinute, clock);
  }

  /**
   * Must be called before a key is looked up.
   * @throws HttpError 429 above the limit, unless the key was valid recently
   */
  check(address: string, token: string): void {
    const seconds = this.#limiter.peek(clientNetwork(address));
    if (seconds === 0 || this.#validKeyHashes.has(sha256Hex(token))) return;
    throw new HttpError(
      429,
      `Too many requests with an invalid key came from this address: wait ${seconds} s.`,
      { retryAfterSeconds: seconds },
    );
  }

  recordFailure(address: string): void {
    this.#limiter.take(clientNetwork(address));
  }

  recordSuccess(token: string): void {
    const hash = sha256Hex(token);
    this.#validKeyHashes.delete(hash);
    this.#validKeyHashes.add(hash);
    if (this.#validKeyHashes.size <= MAX_VALID_KEYS) return;
    const [oldest = hash] = this.#validKeyHashes;
    this.#validKeyHashes.delete(oldest);
  }
}
