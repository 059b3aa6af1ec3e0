import { deflateRawSync, inflateRawSync } from 'node:zlib';
import {
  holdsLongString,
  joinBlob,
  splitBlobs,
  MAX_INLINE_JSON_LENGTH,
  type Blobs,
} from '../../encoding/blob-references.ts';

declare const packedType: unique symbol;

/**
 * A value of type `T` as it is stored in a column: JSON text, or deflated JSON text when that saves pages. Text with
 * references to blobs starts with `&`. `T` is not checked at run time.
 */
export type Packed<T> = (string | Uint8Array) & { readonly [packedType]?: T };

/**
 * Text of at least this many characters is deflated. Records repeat values (a tool result is a token, then a list
 * item), so from this length on deflating saves more than a page. Shorter text stays readable in any SQLite tool.
 */
const DEFLATE_FROM = 768;

/** The window is as long as the longest string in a row. It needs 64 KB instead of 256 KB, allocated for every text. */
const DEFLATE = { level: 1, windowBits: 13, memLevel: 6 } as const;
/**
 * Output buffers of zlib wait for the garbage collector. The default of 16 KB per row would retain tens of megabytes.
 */
const SMALLEST_CHUNK = 512;
const LARGEST_CHUNK = 16_384;

/** Packs a JSON value. Adds strings that are too long for a row to `blobs`. */
export function pack<T>(value: T, blobs: Blobs): Packed<T> {
  return packText(JSON.stringify(value), value, blobs);
}

/** Packs a JSON value whose text is known. */
export function packText<T>(text: string, value: T, blobs: Blobs): Packed<T> {
  const isSplit = text.length > MAX_INLINE_JSON_LENGTH && holdsLongString(value);
  return deflateIfLong(isSplit ? `&${JSON.stringify(splitBlobs(value, blobs))}` : text);
}

/** Packs a JSON value without blobs. */
export function packWithoutBlobs<T>(value: T): Packed<T> {
  return deflateIfLong(JSON.stringify(value));
}

/** The inverse of `pack`. @throws Error when the data is damaged */
export function unpack<T>(packed: Packed<T>, readBlob: (hash: string) => string): T {
  const text = typeof packed === 'string' ? packed : inflateRawSync(packed).toString('utf8');
  const value: T = text.startsWith('&')
    ? JSON.parse(text.slice(1), (_, member: unknown) => joinBlob(member, readBlob))
    : JSON.parse(text);
  return value;
}

function deflateIfLong<T>(text: string): Packed<T> {
  return text.length < DEFLATE_FROM
    ? text
    : deflateRawSync(text, { ...DEFLATE, chunkSize: chunkSize(text) });
}

/** Estimates the deflated size, so that the output usually fits in one chunk. */
function chunkSize({ length }: string): number {
  return Math.min(LARGEST_CHUNK, Math.max(SMALLEST_CHUNK, Math.ceil(length * 0.4)));
}
