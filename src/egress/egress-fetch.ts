import type { IncomingMessage } from 'node:http';
import type { EgressRule } from './egress-rule.ts';
import { fetchWithinOrigin } from './fetch-within-origin.ts';
import { pinnedRequest } from './pinned-request.ts';
import { unpackerFor } from './unpacker.ts';

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
      const answer = await pinnedRequest(url, address, {
        method,
        headers: { 'accept-encoding': 'identity', ...Object.fromEntries(headers) },
        ...(body !== undefined && { body }),
        signal,
      });
      return toResponse(answer, signal);
    } catch (cause) {
      signal.throwIfAborted();
      // The word by which callers know that nobody answered.
      throw new TypeError('fetch failed', { cause });
    }
  });
}

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

function toResponse(answer: IncomingMessage, signal: AbortSignal): Response {
  const { statusCode: status = 502, statusMessage: statusText = '' } = answer;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(answer.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  if (WITHOUT_BODY.has(status)) {
    answer.destroy();
    return new Response(null, { status, statusText, headers });
  }
  headers.delete('content-encoding');
  const body = ReadableStream.from(bodyChunks(answer, signal));
  return new Response(body, { status, statusText, headers });
}

async function* bodyChunks(
  answer: IncomingMessage,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    const unpack = unpackerFor(answer.headers['content-encoding']);
    if (unpack === undefined) yield* answer;
    else {
      answer.once('error', (error) => unpack.destroy(error));
      yield* answer.pipe(unpack);
    }
  } catch (cause) {
    signal.throwIfAborted();
    // The word by which callers know that the connection broke.
    throw new TypeError('terminated', { cause });
  } finally {
    answer.destroy();
  }
}
