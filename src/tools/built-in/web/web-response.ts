import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { FetchError, createDecompressor } from '../../../egress/index.ts';

/** A response with its decompressed body. */
export interface WebResponse {
  readonly status: number;
  readonly url: URL;
  /** Lower case, without parameters. */
  readonly mediaType: string;
  readonly charset: string;
  readonly body: Buffer;
}

/**
 * Reads and decompresses a body.
 * @throws FetchError with `response_too_large` as soon as there are more than `maxBytes`,
 *   compressed or decompressed: a decompression bomb is stopped before it expands
 */
export async function readResponseBody(
  response: IncomingMessage,
  maxBytes: number,
): Promise<Buffer> {
  const tooLarge = new FetchError(
    'response_too_large',
    `The response has more than ${maxBytes} bytes.`,
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
