import { FetchError } from './fetch-error.ts';
import { parseWebUrl } from './parse-web-url.ts';
import { loadPublicAddressRule } from './public-address.ts';
import {
  resolveAllowedAddress,
  systemResolver,
  type ResolveHost,
} from './resolve-allowed-address.ts';

/**
 * Returns the address at which a URL may be requested now. The request must connect to exactly this address.
 * @throws FetchError with `url_refused`, `address_refused` or `fetch_failed`
 */
export type EgressRule = (url: URL) => Promise<string>;

/** Options of `egressRule`. */
export interface EgressOptions {
  /** True if the operator listed this URL's origin. Such an origin may use plain http and a private address. */
  readonly isTrusted: (url: URL) => boolean;
  /** Resolves host names. Default: the system's resolver. */
  readonly resolve?: ResolveHost;
}

/**
 * Creates the rule for requests whose URL comes from an API caller: https and a public address are required, unless the
 * operator listed the origin. Host names are resolved anew for each request.
 */
export function egressRule({ isTrusted, resolve = systemResolver }: EgressOptions): EgressRule {
  return async (url) => {
    parseWebUrl(url.href);
    if (isTrusted(url)) return resolveAllowedAddress(url, resolve, () => true);
    if (url.protocol !== 'https:') {
      throw new FetchError(
        'url_refused',
        `${url.host} may not be requested without TLS. Use https.`,
      );
    }
    return resolveAllowedAddress(url, resolve, await loadPublicAddressRule());
  };
}
