import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { FetchError } from './fetch-error.ts';

/**
 * Creates a decoder for a `content-encoding`; undefined for `identity`.
 * @throws FetchError with `fetch_failed` for any other encoding than gzip, deflate or br, and for a combination of
 * several
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
      // A combination of encodings ends up here, too: the request does not accept one.
      throw new FetchError(
        'fetch_failed',
        `The response has the encoding ${JSON.stringify(encoding.slice(0, 64))}, which the request did not accept.`,
      );
  }
}
