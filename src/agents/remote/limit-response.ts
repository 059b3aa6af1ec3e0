import { RemoteAgentError } from './remote-agent-error.ts';

const NEWLINE = 10;

/**
 * Limits what is read of a response of a remote agent. A JSON body is read as a whole, and each event of a stream is one
 * line: both have at most `maxBytes`.
 * @throws RemoteAgentError for a larger body. The body of a stream fails with it.
 */
export async function limitResponse(response: Response, maxBytes: number): Promise<Response> {
  const { body, headers, status, statusText } = response;
  if (body === null) return response;
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  const limited = limitedChunks(body, { maxBytes, isStream });
  const init = { headers, status, statusText };
  if (isStream) return new Response(ReadableStream.from(limited), init);
  const chunks: Uint8Array[] = [];
  for await (const chunk of limited) chunks.push(chunk);
  return new Response(Buffer.concat(chunks), init);
}

async function* limitedChunks(
  body: ReadableStream<Uint8Array>,
  { maxBytes, isStream }: { readonly maxBytes: number; readonly isStream: boolean },
): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0;
  for await (const chunk of body) {
    const lineStart = isStream ? chunk.lastIndexOf(NEWLINE) + 1 : 0;
    // A line within one chunk is in memory already.
    const longest = lineStart === 0 ? size + chunk.length : size + chunk.indexOf(NEWLINE);
    size = lineStart === 0 ? longest : chunk.length - lineStart;
    if (Math.max(longest, size) > maxBytes)
      throw new RemoteAgentError(
        `The remote agent sent more than ${maxBytes} bytes in one ${isStream ? 'event' : 'response'}. Raise maxResponseBytes of remoteAgent to accept it.`,
      );
    yield chunk;
  }
}
