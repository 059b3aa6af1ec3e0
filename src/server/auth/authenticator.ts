import type { Clock } from '../../net/index.ts';
import { HttpError } from '../http/http-error.ts';
import { RateLimiter } from '../http/rate-limiter.ts';
import { DEFAULT_WORKSPACE, readToken } from './api-keys.ts';
import type { ApiKeys, Caller } from './api-keys.ts';
import { FailedKeyLimiter } from './failed-key-limiter.ts';

export interface AuthenticatorOptions {
  readonly keys: ApiKeys;
  /** When a key is required; see `ServerOptions.keys`. */
  readonly mode: 'required' | 'when-created' | 'off';
  readonly clock: Clock;
  readonly createsPerMinute: number;
  readonly requestsPerMinute: number;
  readonly failedKeysPerMinute: number;
}

/**
 * Finds out who sent a request, and applies the rate limits of its key and address. It is not hono's `bearerAuth()`,
 * which does not read `x-api-key` and answers a malformed header with 400.
 */
export class Authenticator {
  readonly #keys: ApiKeys;
  readonly #mode: AuthenticatorOptions['mode'];
  readonly #createLimiter: RateLimiter;
  readonly #requestLimiter: RateLimiter;
  readonly #failedKeyLimiter: FailedKeyLimiter;

  constructor(options: AuthenticatorOptions) {
    this.#keys = options.keys;
    this.#mode = options.mode;
    this.#createLimiter = new RateLimiter(options.createsPerMinute, options.clock);
    this.#requestLimiter = new RateLimiter(options.requestsPerMinute, options.clock);
    this.#failedKeyLimiter = new FailedKeyLimiter(options.failedKeysPerMinute, options.clock);
  }

  /** True if requests need a key. With `when-created` that stays true after the last key was revoked. */
  async requiresKey(): Promise<boolean> {
    return this.#mode === 'when-created' ? this.#keys.hasSeenKey() : this.#mode === 'required';
  }

  /**
   * Authenticates a request to a route.
   * @param requiresKey the result of `requiresKey` for this request
   * @throws HttpError 401 for an invalid key; 429 above a rate limit
   */
  async authenticate(
    route: { readonly open: boolean; readonly creates: boolean },
    headers: Headers,
    address: string,
    requiresKey: boolean,
  ): Promise<Caller> {
    if (route.open) return { workspace: DEFAULT_WORKSPACE, keyId: '' };
    const token = readToken(headers);
    const caller: Caller =
      !requiresKey && token?.startsWith('ptk_') !== true
        ? { workspace: DEFAULT_WORKSPACE, keyId: 'local' }
        : await this.#authenticateToken(token, address);
    const limiter = route.creates ? this.#createLimiter : this.#requestLimiter;
    const seconds = limiter.take(caller.keyId);
    if (seconds > 0)
      throw new HttpError(429, `Too many requests with this key: wait ${seconds} s.`, {
        retryAfterSeconds: seconds,
      });
    return caller;
  }

  /** @throws HttpError 401; 429 for an address that sent too many invalid keys */
  async #authenticateToken(token: string | undefined, address: string): Promise<Caller> {
    if (token !== undefined) this.#failedKeyLimiter.check(address, token);
    try {
      const caller = await this.#keys.authenticate(token);
      if (token !== undefined) this.#failedKeyLimiter.recordSuccess(token);
      return caller;
    } catch (error) {
      const isInvalid = error instanceof HttpError && error.status === 401;
      // A request without a key is not an attempt to guess one.
      if (isInvalid && token !== undefined) this.#failedKeyLimiter.recordFailure(address);
      throw error;
    }
  }
}
