export { parseAllowedHosts, type HostRule } from './parse-allowed-hosts.ts';
export {
  resolveAllowedAddress,
  systemResolver,
  type ResolveHost,
} from './resolve-allowed-address.ts';
export { egressFetch } from './egress-fetch.ts';
export { egressRule, type EgressRule } from './egress-rule.ts';
export { FetchError, type FetchErrorCode } from './fetch-error.ts';
export { fetchWithinOrigin } from './fetch-within-origin.ts';
export { MissingToolPackageError } from './missing-tool-package-error.ts';
export { parseOrigins, type OriginMatcher } from './parse-origins.ts';
export { pinLookup, pinnedRequest } from './pinned-request.ts';
export { loadPublicAddressRule, type AddressRule } from './public-address.ts';
export { createDecompressor } from './decompressor.ts';
export { parseWebUrl } from './parse-web-url.ts';
