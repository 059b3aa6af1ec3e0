import { PetrichorError, type PetrichorErrorOptions } from '../../../core/index.ts';

/** Why nobody searched: the key was not accepted, it was asked too often, or anything else. */
export type SearchErrorCode = 'search_unauthorised' | 'search_rate_limited' | 'search_failed';

/** A search found nothing because nobody searched. It names the provider, and never the key. */
export class SearchError extends PetrichorError {
  override readonly code: SearchErrorCode;
  readonly provider: string;
  /** Milliseconds after which the provider will answer again, if it said so. */
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
