import {
  resolveAllowedAddress,
  systemResolver,
  type ResolveHost,
} from './resolve-allowed-address.ts';
import { FetchError } from './fetch-error.ts';
import { loadPublicAddressRule } from './public-address.ts';
import { parseWebUrl } from './parse-web-url.ts';

/**
 * The address at which a URL may be asked now. The request must connect to this very address.
 * @throws FetchError with `url_refused`, `address_refused` or `fetch_failed`
 */
export type EgressRule = (url: URL) => Promise<string>;

/** Which URLs the operator names, and how names are resolved. */
export interface EgressOptions {
  /** The operator named this URL's origin: neither TLS nor a public address is asked of it. */
  readonly isTrusted: (url: URL) => boolean;
  /** Resolves names. Default: the system's resolver. */
  readonly resolve?: ResolveHost;
}

/**
 * The rule for each request that goes where a caller of the API says: https, and a public address, unless the operator
 * named the origin. A name is resolved for each request anew.
 */
export function egressRule({ isTrusted, resolve = systemResolver }: EgressOptions): EgressRule {
  return async (url) => {
    parseWebUrl(url.href);
    if (isTrusted(url)) return resolveAllowedAddress(url, resolve, () => true);
    if (url.protocol !== 'https:') {
      throw new FetchError('url_refused', `${url.host} is not asked without TLS: use https.`);
    }
    return resolveAllowedAddress(url, resolve, await loadPublicAddressRule());
  };
}
