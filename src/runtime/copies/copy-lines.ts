import { constants } from 'node:buffer';
import { createHash } from 'node:crypto';
import { isJsonObject } from '../../core/internal.ts';
import { MAX_JSON_DEPTH } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import { DamagedCopyError } from './damaged-copy-error.ts';

/** How deep a line may be nested: a value that a store accepts, inside an item. */
const MAX_LINE_DEPTH = MAX_JSON_DEPTH + 50;

/** A line of a copy, with its number from 1. */
export interface CopyLine {
  readonly number: number;
  readonly value: JsonObject;
}

/**
 * Writes values as lines of JSON. The last line counts the others and has the SHA-256 of their bytes, so that a reader
 * notices every change of the file.
 * @param counts more members of the last line
 */
export async function* toCopyLines(
  values: AsyncIterable<object> | Iterable<object>,
  counts: () => JsonObject = () => ({}),
): AsyncGenerator<string, void, undefined> {
  const hash = createHash('sha256');
  let lines = 0;
  for await (const value of values) {
    const line = `${JSON.stringify(value)}\n`;
    hash.update(line);
    lines++;
    yield line;
  }
  yield `${JSON.stringify({ type: 'end', ...counts(), lines, sha256: hash.digest('hex') })}\n`;
}

/**
 * Reads the lines that `toCopyLines` wrote, without the last. The lines count as checked only when all have been read.
 * @param file the name of the file, for error messages
 * @param maxLength the most characters of a line. Default: the longest string
 * @throws DamagedCopyError
 */
export async function* readCopyLines(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
  maxLength: number = constants.MAX_STRING_LENGTH,
): AsyncGenerator<CopyLine, void, undefined> {
  const hash = createHash('sha256');
  let number = 0;
  let end: JsonObject | undefined;
  for await (const text of splitLines(chunks, file, maxLength)) {
    if (end !== undefined) throw new DamagedCopyError(file, 'is damaged: lines follow its end');
    const value = parseLine(text, number + 1, file);
    if (value['type'] === 'end') {
      end = value;
      continue;
    }
    number++;
    hash.update(`${text}\n`);
    yield { number, value };
  }
  if (end === undefined)
    throw new DamagedCopyError(file, `was cut off after line ${number}: it does not have its end`);
  if (end['lines'] !== number)
    throw new DamagedCopyError(
      file,
      `is damaged: it has ${number} lines before its end, which counts ${JSON.stringify(end['lines'])}`,
    );
  if (end['sha256'] !== hash.digest('hex'))
    throw new DamagedCopyError(file, 'is damaged: its bytes do not have the checksum of its end');
}

function parseLine(text: string, number: number, file: string): JsonObject {
  let value: Json = null;
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON text contains nothing else
    value = JSON.parse(text) as Json;
  } catch {
    // Said below.
  }
  if (isJsonObject(value)) {
    if (isWithinDepth(value, MAX_LINE_DEPTH)) return value;
    throw new DamagedCopyError(
      file,
      `is damaged: line ${number} is nested deeper than ${MAX_LINE_DEPTH} levels`,
    );
  }
  if (number === 1) throw new DamagedCopyError(file, 'is no backup and no exported session');
  throw new DamagedCopyError(
    file,
    `is damaged or was cut off: line ${number} is not a JSON object`,
  );
}

function isWithinDepth(value: Json, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((one) => isWithinDepth(one, depth - 1));
}

async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
  maxLength: number,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let parts: string[] = [];
  let length = 0;
  try {
    for await (const chunk of chunks) {
      const [first = '', ...rest] = decoder.decode(chunk, { stream: true }).split('\n');
      parts.push(first);
      length += first.length;
      // A small compressed file can have a line that does not fit into memory.
      if (length > maxLength)
        throw new DamagedCopyError(file, `has a line of more than ${maxLength} characters`);
      for (const part of rest) {
        yield parts.join('');
        parts = [part];
        length = part.length;
      }
    }
    parts.push(decoder.decode());
  } catch (error) {
    throw toDamaged(error, file);
  }
  const last = parts.join('');
  if (last !== '') yield last;
}

/** An error of the decompression, or of bytes that are no text. Errors of the disk stay as they are. */
function toDamaged(error: unknown, file: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code.startsWith('Z_') || code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
    return new DamagedCopyError(file, 'is damaged or was cut off: it cannot be decoded', {
      cause: error,
    });
  return error;
}
