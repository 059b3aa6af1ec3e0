import { PetrichorError, type PetrichorErrorOptions } from '../../core/index.ts';

export type FetchErrorCode =
  | 'url_refused'
  | 'host_not_allowed'
  | 'address_refused'
  | 'redirect_refused'
  | 'response_too_large'
  | 'response_not_text'
  | 'fetch_failed';

/** A page was not fetched, or may not be shown. The message is for the model. */
export class FetchError extends PetrichorError {
  override readonly code: FetchErrorCode;

  constructor(code: FetchErrorCode, problem: string, options?: PetrichorErrorOptions) {
    super(problem, options);
    this.code = code;
  }
}
