import { sha256Hex } from '../../core/index.ts';

/** Longer strings (UTF-8 bytes) are stored once, as a blob under their hash, and not inside the JSON. */
export const MAX_INLINE_STRING_BYTES = 8192;

/** JSON text of at most this many characters has no long string, since a character takes at most three bytes. */
export const MAX_INLINE_JSON_LENGTH: number = Math.floor(MAX_INLINE_STRING_BYTES / 3);

/** Long strings, by hash. */
export type Blobs = Map<string, string>;

/** True when a string in the value must be stored as a blob. */
export function holdsLongString(value: unknown): boolean {
  if (typeof value === 'string') return isLong(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsLongString);
}

/**
 * Replaces each long string by `{ $blob: hash }` and adds it to `blobs`. Escapes members that look like a reference.
 */
export function splitBlobs(value: unknown, blobs: Blobs): unknown {
  if (typeof value === 'string') return isLong(value) ? toBlobReference(value, blobs) : value;
  if (Array.isArray(value)) return value.map((item: unknown) => splitBlobs(item, blobs));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      REFERENCE.test(key) ? `$${key}` : key,
      splitBlobs(member, blobs),
    ]),
  );
}

/** Undoes `splitBlobs` for one value whose members are done already. For use in a `JSON.parse` reviver. */
export function joinBlob(value: unknown, readBlob: (hash: string) => string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if ('$blob' in value && typeof value.$blob === 'string') return readBlob(value.$blob);
  if (!Object.keys(value).some((key) => REFERENCE.test(key))) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      REFERENCE.test(key) ? key.slice(1) : key,
      member,
    ]),
  );
}

/** A user's member named like a reference is escaped with one more `$`. */
const REFERENCE = /^\$+blob$/;

function toBlobReference(text: string, blobs: Blobs): object {
  const hash = sha256Hex(text);
  blobs.set(hash, text);
  return { $blob: hash };
}

/** A string with a lone surrogate does not survive UTF-8. It stays in the JSON text, which escapes it. */
function isLong(text: string): boolean {
  if (text.length <= MAX_INLINE_JSON_LENGTH) return false;
  return Buffer.byteLength(text, 'utf8') > MAX_INLINE_STRING_BYTES && text.isWellFormed();
}
