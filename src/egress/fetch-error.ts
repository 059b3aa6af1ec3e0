import { PetrichorError, type PetrichorErrorOptions } from '../core/index.ts';

/**
 * Why a page was not fetched.
 * - `url_refused`: it is not an http or https URL, or it contains credentials.
 * - `host_not_allowed`: its host is not on the list of allowed hosts.
 * - `address_refused`: its host resolves to an address that the address rule forbids.
 * - `redirect_refused`: there were too many redirects, or one leads from https to http.
 * - `response_too_large`: the response exceeds the size limit.
 * - `response_not_text`: the response is not text.
 * - `fetch_failed`: there was no response, or one that cannot be decoded.
 */
export type FetchErrorCode =
  | 'url_refused'
  | 'host_not_allowed'
  | 'address_refused'
  | 'redirect_refused'
  | 'response_too_large'
  | 'response_not_text'
  | 'fetch_failed';

/** A page was not fetched, or may not be shown. The model reads the message. */
export class FetchError extends PetrichorError {
  override readonly code: FetchErrorCode;

  constructor(code: FetchErrorCode, problem: string, options?: PetrichorErrorOptions) {
    super(problem, options);
    this.code = code;
  }
}
