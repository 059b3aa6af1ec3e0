import { omitUndefined } from '../core/internal.ts';
import type { IncomingMessage } from 'node:http';
import { createDecompressor } from './decompressor.ts';
import type { EgressRule } from './egress-rule.ts';
import { fetchWithinOrigin } from './fetch-within-origin.ts';
import { pinnedRequest } from './pinned-request.ts';

/**
 * Creates a `fetch` that follows an egress rule. Each request uses a new connection to the address that the rule
 * returned, so a later DNS answer cannot change the target. Redirects are followed within the origin only.
 * Rejects with FetchError when the rule refuses the URL, and with the same TypeErrors as `fetch` when the connection
 * fails.
 */
export function egressFetch(rule: EgressRule): typeof globalThis.fetch {
  return fetchWithinOrigin(async (input, init) => {
    const request = new Request(input, init);
    const { method, headers, signal } = request;
    const url = new URL(request.url);
    const address = await rule(url);
    const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
    signal.throwIfAborted();
    try {
      const response = await pinnedRequest(url, address, {
        method,
        headers: { 'accept-encoding': 'identity', ...Object.fromEntries(headers) },
        ...omitUndefined({ body }),
        signal,
      });
      return toResponse(response, signal);
    } catch (cause) {
      signal.throwIfAborted();
      // Callers recognize a failed connection by this message of the platform's `fetch`.
      throw new TypeError('fetch failed', { cause });
    }
  });
}

const BODYLESS_STATUS: ReadonlySet<number> = new Set([204, 205, 304]);

function toResponse(response: IncomingMessage, signal: AbortSignal): Response {
  const { statusCode: status = 502, statusMessage: statusText = '' } = response;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(response.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  if (BODYLESS_STATUS.has(status)) {
    response.destroy();
    return new Response(null, { status, statusText, headers });
  }
  headers.delete('content-encoding');
  const body = ReadableStream.from(bodyChunks(response, signal));
  return new Response(body, { status, statusText, headers });
}

async function* bodyChunks(
  response: IncomingMessage,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    const decompressor = createDecompressor(response.headers['content-encoding']);
    if (decompressor === undefined) yield* response;
    else {
      response.once('error', (error) => decompressor.destroy(error));
      yield* response.pipe(decompressor);
    }
  } catch (cause) {
    signal.throwIfAborted();
    // Callers recognize a broken connection by this message of the platform's `fetch`.
    throw new TypeError('terminated', { cause });
  } finally {
    response.destroy();
  }
}
