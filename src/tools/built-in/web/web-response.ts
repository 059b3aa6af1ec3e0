import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { FetchError, createDecompressor } from '../../../egress/index.ts';

/** What a server said, its body unpacked. */
export interface WebResponse {
  readonly status: number;
  readonly url: URL;
  /** Without parameters, in lower case. */
  readonly mediaType: string;
  readonly charset: string;
  readonly body: Buffer;
}

/**
 * Reads a body to its end, unpacked.
 * @throws FetchError with `response_too_large` as soon as there are more than `maxBytes`, packed or unpacked: a small
 * answer that unpacks to a large one is given up before it is large.
 */
export async function readResponseBody(
  response: IncomingMessage,
  maxBytes: number,
): Promise<Buffer> {
  const tooLarge = new FetchError(
    'response_too_large',
    `The answer has more than ${maxBytes} bytes.`,
  );
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge;
  const chunks: Buffer[] = [];
  let size = 0;
  const collect = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge;
      chunks.push(chunk);
    }
  };
  const unpack = createDecompressor(response.headers['content-encoding']);
  await (unpack === undefined ? pipeline(response, collect) : pipeline(response, unpack, collect));
  return Buffer.concat(chunks);
}
