import { request as requestHttp } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';

/** What is asked for at an address. */
export interface PinnedRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body?: string | Uint8Array;
  readonly signal: AbortSignal;
}

/**
 * Asks one address for a URL, whatever its name resolves to by then: between two answers a name could come to lead
 * elsewhere. The connection is its own, for one that was kept open was made to an address checked for somebody else.
 * Rejects with what Node says; what fails after the response has begun is told by the response.
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
    lookup: (_hostname, { all = false }, done) => {
      const family = isIP(address);
      if (all) done(null, [{ address, family }]);
      else done(null, address, family);
    },
  };
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options);
  request.once('response', resolve);
  // It stays after the response: an error that nobody hears would end the process.
  request.on('error', reject);
  // After 101 Node closes the connection and tells of neither a response nor an error.
  request.once('close', () => reject(new Error(`${url.host} closed without a response.`)));
  request.end(body);
  return promise;
}
