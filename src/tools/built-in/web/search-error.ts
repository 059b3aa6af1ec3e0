import { PetrichorError, type PetrichorErrorOptions } from '../../../core/index.ts';

/** Why a search failed: the key was rejected, the rate limit was reached, or another reason. */
export type SearchErrorCode = 'search_unauthorised' | 'search_rate_limited' | 'search_failed';

/** Thrown when a search could not run. It names the provider and never contains the key. */
export class SearchError extends PetrichorError {
  override readonly code: SearchErrorCode;
  readonly provider: string;
  /** Milliseconds until the provider accepts requests again, if it sent that. */
  readonly retryAfterMs?: number;

  constructor(
    code: SearchErrorCode,
    provider: string,
    problem: string,
    options: PetrichorErrorOptions & { readonly retryAfterMs?: number } = {},
  ) {
    super(`${provider}: ${problem}`, options);
    this.code = code;
    this.provider = provider;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
  }
}
