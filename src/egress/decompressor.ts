import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { FetchError } from './fetch-error.ts';

/**
 * Decodes a body by its `content-encoding`; undefined when there is nothing to decode.
 * @throws FetchError with `fetch_failed` for an encoding that was not asked for.
 */
export function createDecompressor(
  encoding = 'identity',
): (Readable & NodeJS.WritableStream) | undefined {
  switch (encoding.trim().toLowerCase()) {
    case 'identity':
    case '':
      return undefined;
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      // Several of them on top of each other, too: nobody asked for that.
      throw new FetchError('fetch_failed', 'The answer is packed in a way nobody asked for.');
  }
}
