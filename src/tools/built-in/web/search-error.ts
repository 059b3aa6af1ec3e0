import { PetrichorError, type PetrichorErrorOptions } from '../../../core/index.ts';

/** Why a search failed. */
export type SearchErrorCode =
  /**
   * The provider does not accept the key.
   * @remedy Correct the key of the search provider.
   */
  | 'search_unauthorised'
  /**
   * The rate limit of the provider is reached.
   * @remedy Search again after `retryAfterMs`, or later.
   */
  | 'search_rate_limited'
  /**
   * The provider could not be reached, or sent an error or a response in an unknown format.
   * @remedy Try again. If it fails again, check the status of the provider.
   */
  | 'search_failed';

/**
 * A search could not run. The error names the provider and never contains the key.
 * @remedy Each member of `SearchErrorCode` names its own.
 */
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
