import { getErrorCode } from '../../../core/internal.ts';
import type { IncomingMessage } from 'node:http';
import {
  resolveAllowedAddress,
  FetchError,
  pinnedRequest,
  parseWebUrl,
} from '../../../egress/index.ts';
import type { AddressRule, HostRule, ResolveHost } from '../../../egress/index.ts';
import { redirectTarget } from './redirect-target.ts';
import { readResponseBody, type WebResponse } from './web-response.ts';

/** What may be fetched, and how much. */
export interface FetchRules {
  readonly allowsHost: HostRule;
  readonly allowsAddress: AddressRule;
  readonly resolve: ResolveHost;
  /** The largest decompressed body. */
  readonly maxBytes: number;
  readonly maxRedirects: number;
}

/**
 * Fetches a page. Every URL on the way, including redirects, is checked again: protocol, host, and
 * the address that the host name resolves to. The connection uses exactly the checked address. No
 * cookies, credentials or proxy are used.
 * @throws FetchError if a URL is rejected or the request fails; the abort reason of the signal
 */
export async function fetchPage(
  url: string,
  rules: FetchRules,
  signal: AbortSignal,
): Promise<WebResponse> {
  let current = parseWebUrl(url);
  for (let redirects = 0; ; redirects += 1) {
    if (!rules.allowsHost(current)) {
      throw new FetchError(
        'host_not_allowed',
        `${current.host} is not in the list of allowed hosts.`,
      );
    }
    const address = await resolveAllowedAddress(current, rules.resolve, rules.allowsAddress);
    signal.throwIfAborted();
    const response = await get(current, address, signal);
    const next = redirectTarget(response, current);
    if (next === undefined) return toWebResponse(response, current, rules.maxBytes, signal);
    response.destroy();
    if (redirects === rules.maxRedirects) {
      throw new FetchError(
        'redirect_refused',
        `There were more than ${rules.maxRedirects} redirects.`,
      );
    }
    current = next;
  }
}

async function get(url: URL, address: string, signal: AbortSignal): Promise<IncomingMessage> {
  try {
    return await pinnedRequest(url, address, {
      method: 'GET',
      headers: {
        accept: 'text/html, text/plain, application/json, text/*;q=0.9, */*;q=0.1',
        'accept-encoding': 'gzip, deflate, br',
      },
      signal,
    });
  } catch (cause) {
    throw toFetchError(url, cause, signal);
  }
}

async function toWebResponse(
  response: IncomingMessage,
  url: URL,
  maxBytes: number,
  signal: AbortSignal,
): Promise<WebResponse> {
  const type = response.headers['content-type'] ?? '';
  try {
    return {
      status: response.statusCode ?? 0,
      url,
      mediaType: (type.split(';')[0] ?? '').trim().toLowerCase(),
      charset: /charset\s*=\s*"?(?<name>[^\s;"]+)/i.exec(type)?.groups?.['name'] ?? 'utf-8',
      body: await readResponseBody(response, maxBytes),
    };
  } catch (cause) {
    throw cause instanceof FetchError ? cause : toFetchError(url, cause, signal);
  } finally {
    response.destroy();
  }
}

function toFetchError({ host }: URL, cause: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  // The message of the system would reveal an address.
  const code = getErrorCode(cause) ?? 'unknown';
  return new FetchError('fetch_failed', `${host} could not be read: ${code}.`, { cause });
}
