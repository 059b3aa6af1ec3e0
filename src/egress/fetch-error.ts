import { PetrichorError, type PetrichorErrorOptions } from '../core/index.ts';

/** Why a page was not fetched. */
export type FetchErrorCode =
  /**
   * The URL is not a URL, is not http or https, contains credentials, or needs https.
   * @remedy Use an https URL without a user name and a password.
   */
  | 'url_refused'
  /**
   * The host is not in the list of allowed hosts.
   * @remedy Use an allowed host, or add the host to the list.
   */
  | 'host_not_allowed'
  /**
   * The host resolves to an address that is not public.
   * @remedy Use a host on the public web. An operator can trust an origin.
   */
  | 'address_refused'
  /**
   * There were too many redirects, or one leads from https to http.
   * @remedy Use the final URL.
   */
  | 'redirect_refused'
  /**
   * The response exceeds the size limit.
   * @remedy Request a smaller page, or raise the limit.
   */
  | 'response_too_large'
  /**
   * The response is not text.
   * @remedy Use a URL of a text, such as HTML or JSON.
   */
  | 'response_not_text'
  /**
   * There was no response, the host was not found, or the response cannot be decoded.
   * @remedy Check the host and the network, and try again.
   */
  | 'fetch_failed';

/**
 * A page was not fetched, or may not be shown. The model reads the message.
 * @remedy Each member of `FetchErrorCode` names its own.
 */
export class FetchError extends PetrichorError {
  override readonly code: FetchErrorCode;

  constructor(code: FetchErrorCode, problem: string, options?: PetrichorErrorOptions) {
    super(problem, options);
    this.code = code;
  }
}
