import { McpMessageTooLargeError } from '../vocabulary/mcp-errors.ts';

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/**
 * Wraps `fetch` to bound the memory of responses. A body, or one event of an event stream, above
 * the limit fails with `McpMessageTooLargeError`. The total length of a stream is not limited.
 */
export function boundedFetch(
  fetch: typeof globalThis.fetch,
  server: string,
  maxBytes: number,
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { body, headers, status, statusText } = response;
    if (body === null || status < 200 || (status >= 300 && status < 400)) return response;
    const isStream = headers.get('content-type')?.includes('text/event-stream') === true;
    const bounded = body.pipeThrough(limitBytes(server, maxBytes, isStream));
    return new Response(bounded, { headers, status, statusText });
  };
}

function limitBytes(
  server: string,
  maxBytes: number,
  isStream: boolean,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  let endedLine = false;
  return new TransformStream({
    transform(chunk, controller) {
      const end = isStream ? lastEventEnd(chunk, endedLine) : -1;
      endedLine = chunk.at(-1) === LINE_FEED;
      bytes = end === -1 ? bytes + chunk.length : chunk.length - end;
      if (bytes > maxBytes) throw new McpMessageTooLargeError(server, maxBytes);
      controller.enqueue(chunk);
    },
  });
}

/** The index at which the last event of a chunk ends (an empty line); -1 if none ends there. */
function lastEventEnd(chunk: Uint8Array, afterLine: boolean): number {
  for (let i = chunk.length - 1; i > 0; i--) {
    if (chunk[i] !== LINE_FEED) continue;
    const before = chunk[i - 1] === CARRIAGE_RETURN ? i - 2 : i - 1;
    if (chunk[before] === LINE_FEED) return i;
  }
  return afterLine && chunk[0] === LINE_FEED ? 0 : -1;
}
