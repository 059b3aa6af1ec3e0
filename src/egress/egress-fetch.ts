import type { IncomingMessage } from 'node:http';
import type { EgressRule } from './egress-rule.ts';
import { fetchWithinOrigin } from './fetch-within-origin.ts';
import { pinnedRequest } from './pinned-request.ts';
import { createDecompressor } from './decompressor.ts';

/**
 * `fetch` under a rule. Each request connects to the address that the rule gave for it, on a connection of its own, so
 * no later answer of a name server changes its target. A redirect is followed within its origin only.
 * Rejects with FetchError when the rule refuses, and as `fetch` does when nobody answers.
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
        ...(body !== undefined && { body }),
        signal,
      });
      return toResponse(response, signal);
    } catch (cause) {
      signal.throwIfAborted();
      // The word by which callers know that nobody answered.
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
    // The word by which callers know that the connection broke.
    throw new TypeError('terminated', { cause });
  } finally {
    response.destroy();
  }
}
