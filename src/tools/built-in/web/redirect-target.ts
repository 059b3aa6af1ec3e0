import type { IncomingMessage } from 'node:http';
import { FetchError, parseWebUrl } from '../../../egress/index.ts';

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * The URL that a response redirects to; undefined if it is no redirect.
 * @throws FetchError with `url_refused`, or with `redirect_refused` for a redirect from https to
 *   http
 */
export function redirectTarget(
  { statusCode = 0, headers: { location } }: Pick<IncomingMessage, 'statusCode' | 'headers'>,
  from: URL,
): URL | undefined {
  if (!REDIRECTS.has(statusCode) || location === undefined) return undefined;
  const to = parseWebUrl(URL.parse(location, from.href)?.href ?? location);
  if (from.protocol === 'https:' && to.protocol === 'http:') {
    throw new FetchError('redirect_refused', `It redirects to ${to.host} without encryption.`);
  }
  return to;
}
