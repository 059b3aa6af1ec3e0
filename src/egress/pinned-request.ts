import { request as requestHttp } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';

/** Method, headers and body of a request. */
export interface PinnedRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body?: string | Uint8Array;
  readonly signal: AbortSignal;
}

/**
 * Requests a URL at one address, whatever its host name resolves to at that time: DNS could return another address than
 * the one that was checked. It opens a new connection, because a pooled one may lead to an address that was checked for
 * another request.
 * Rejects with Node's error. A failure after the response has begun is an error of the response stream.
 */
export async function pinnedRequest(
  url: URL,
  address: string,
  { method, headers, body, signal }: PinnedRequest,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const options: RequestOptions = {
    method,
    signal,
    agent: false,
    headers: { 'user-agent': 'petrichor', ...headers },
    lookup: pinLookup(address),
  };
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options);
  request.once('response', resolve);
  // It stays attached after the response: an `error` event without a listener would end the process.
  request.on('error', reject);
  // After status 101 Node closes the connection and emits neither `response` nor `error`.
  request.once('close', () => reject(new Error(`${url.host} closed without a response.`)));
  request.end(body);
  return promise;
}

/** Resolves every host name to one address. */
export function pinLookup(address: string): LookupFunction {
  return (_hostname, { all = false }, done) => {
    const family = isIP(address);
    if (all) done(null, [{ address, family }]);
    else done(null, address, family);
  };
}
