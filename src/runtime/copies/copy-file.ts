import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { InvalidInputError } from '../../core/index.ts';
import { getErrorCode } from '../../core/internal.ts';

const GZIP_MAGIC = [0x1f, 0x8b];

/** A copy that can be read several times. */
export interface CopySource {
  /** Names the copy in errors. */
  readonly name: string;
  readonly read: () => AsyncIterable<Uint8Array>;
}

/** How the first line of a copy begins. */
const COPY_START = /^\{"type":"(?:backup|journal)"/;

/**
 * Writes a file of lines, compressed with gzip if its name ends in `.gz`. It is written under another name beside it first,
 * and replaces an existing copy only when it is whole and on the disk. Only its owner can read it.
 * @throws InvalidInputError if the file exists and is no copy: it may be the store itself
 */
export async function writeCopyFile(file: string, lines: AsyncIterable<string>): Promise<void> {
  await checkReplaceable(file);
  const partial = `${file}.partial-${randomUUID()}`;
  try {
    const handle = await open(partial, 'wx', 0o600);
    const target = handle.createWriteStream({ flush: true });
    const source = Readable.from(lines, { objectMode: true });
    if (file.endsWith('.gz')) await pipeline(source, createGzip(), target);
    else await pipeline(source, target);
    await rename(partial, file);
    await syncFolder(dirname(file));
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** The copy in a file, decompressed if its content is compressed with gzip. */
export function toFileSource(file: string): CopySource {
  return { name: file, read: () => readCopyFile(file) };
}

/** A copy in memory, compressed with gzip. */
export function toGzipSource(name: string, bytes: Uint8Array): CopySource {
  return { name, read: () => decompress(Readable.from([bytes])) };
}

async function* readCopyFile(file: string): AsyncGenerator<Uint8Array, void, undefined> {
  const isCompressed = await isGzip(file);
  const source = createReadStream(file);
  if (!isCompressed) {
    yield* source as AsyncIterable<Uint8Array>;
    return;
  }
  yield* decompress(source);
}

async function* decompress(source: Readable): AsyncGenerator<Uint8Array, void, undefined> {
  const decompressed = createGunzip();
  // An error of the source ends the decompression with it.
  const piped = pipeline(source, decompressed).catch(() => undefined);
  yield* decompressed as AsyncIterable<Uint8Array>;
  await piped;
}

/** Compresses lines with gzip, in memory. */
export async function compressLines(lines: AsyncIterable<string>): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  await pipeline(
    Readable.from(lines, { objectMode: true }),
    createGzip(),
    async (compressed: AsyncIterable<Buffer>) => {
      for await (const chunk of compressed) chunks.push(chunk);
    },
  );
  return Buffer.concat(chunks);
}

/** @throws InvalidInputError */
async function checkReplaceable(file: string): Promise<void> {
  const found = await stat(file).catch((error: unknown) => {
    if (getErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (found === undefined || (found.isFile() && found.size === 0)) return;
  if (found.isFile() && COPY_START.test(await readStart(file))) return;
  throw new InvalidInputError(
    'file',
    `must not exist, or be an earlier copy; ${file} is something else, and was not replaced. Name another file.`,
  );
}

/** The first characters. Empty: they cannot be decompressed. */
async function readStart(file: string): Promise<string> {
  try {
    for await (const chunk of readCopyFile(file)) return Buffer.from(chunk).toString();
  } catch (error) {
    if (!getErrorCode(error)?.startsWith('Z_')) throw error;
  }
  return '';
}

async function isGzip(file: string): Promise<boolean> {
  await using handle = await open(file, 'r');
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
  return bytesRead === 2 && GZIP_MAGIC.every((byte, index) => buffer[index] === byte);
}

/** Makes the name of a new file durable. */
async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r');
  await handle.sync();
}
