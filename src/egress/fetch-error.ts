import { PetrichorError, type PetrichorErrorOptions } from '../core/index.ts';

/**
 * Why a page was not fetched. `url_refused`: it is no http or https URL, or holds a password. `host_not_allowed`: it
 * is not on the list of hosts. `address_refused`: the rule for addresses forbids where its name leads.
 * `redirect_refused`: there were too many, or one leads out of encryption. `fetch_failed`: nobody answered, or not in
 * a form that can be read.
 */
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
