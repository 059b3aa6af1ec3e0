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
 * A `T` as a column holds it: JSON text, or deflated text when that saves pages. Text that refers to blobs starts with `&`.
 * What `T` is, only the types know.
 */
export type Packed<T> = (string | Uint8Array) & { readonly [packedType]?: T };

/**
 * In characters. Records name the same things several times (a tool's result is a token, then an item of a list), so
 * from here on deflating saves more than a page; below, the text stays readable with any SQLite tool.
 */
const DEFLATE_FROM = 1536;

/** A window as long as the longest string of a row, 64 KB of work space instead of 256: it is made anew for every text. */
const DEFLATE = { level: 1, windowBits: 13, memLevel: 6 } as const;
/** What zlib writes into waits for the collector: 16 KB for every row, unless told, would keep tens of megabytes in use. */
const SMALLEST_CHUNK = 512;
const LARGEST_CHUNK = 16_384;

/** Packs a JSON value; strings too long for a row go into `blobs`. */
export function pack<T>(value: T, blobs: Blobs): Packed<T> {
  const text = JSON.stringify(value);
  const isSplit = text.length > MAX_INLINE_JSON_LENGTH && holdsLongString(value);
  return deflateIfLong(isSplit ? `&${JSON.stringify(splitBlobs(value, blobs))}` : text);
}

/** Packs a JSON value whole, for rows that share no blobs. */
export function packWithoutBlobs<T>(value: T): Packed<T> {
  return deflateIfLong(JSON.stringify(value));
}

/** The inverse of `pack`. @throws Error when the text is damaged. */
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

/** Room for the text as it mostly becomes, in one piece. */
function chunkSize({ length }: string): number {
  return Math.min(LARGEST_CHUNK, Math.max(SMALLEST_CHUNK, Math.ceil(length * 0.4)));
}
