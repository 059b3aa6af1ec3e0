import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** A file as a client gets it, with the headers that say how it is encoded. */
export interface EncodedFile {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly encoding: Readonly<Record<string, string>>;
}

/** Reads a file for a client that accepts these encodings. */
export type ReadCompressed = (file: string, acceptEncoding: string | null) => Promise<EncodedFile>;

const compress = promisify(gzip);

/** Below this many bytes, a compressed file is hardly smaller. */
const LEAST_BYTES = 1024;

/** Returns a function that reads files whose content never changes. Each one is compressed once. */
export function compressedFiles(): ReadCompressed {
  const files = new Map<string, Promise<EncodedFile>>();
  return async (file, acceptEncoding) => {
    if (!acceptsGzip(acceptEncoding))
      return { body: new Uint8Array(await readFile(file)), encoding: VARY };
    const known = files.get(file);
    if (known !== undefined) return known;
    const compressed = readCompressed(file);
    files.set(file, compressed);
    // A file that could not be read is read again.
    compressed.catch(() => files.delete(file));
    return compressed;
  };
}

const VARY = { vary: 'accept-encoding' };

async function readCompressed(file: string): Promise<EncodedFile> {
  const bytes = await readFile(file);
  if (bytes.length < LEAST_BYTES) return { body: new Uint8Array(bytes), encoding: VARY };
  const body = new Uint8Array(await compress(bytes));
  return { body, encoding: { ...VARY, 'content-encoding': 'gzip' } };
}

/** `gzip;q=0` refuses it. */
function acceptsGzip(acceptEncoding: string | null): boolean {
  return (acceptEncoding ?? '')
    .split(',')
    .some((one) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$)|$)/i.test(one));
}
