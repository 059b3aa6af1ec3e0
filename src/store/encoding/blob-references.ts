import { sha256Hex } from '../../core/identity/ids.ts';

/** Strings of more UTF-8 bytes than this are kept once, by their hash, instead of wherever they occur. */
export const MAX_INLINE_STRING_BYTES = 8192;

/** JSON text of so few characters holds no long string, at three bytes a character. */
export const MAX_INLINE_JSON_LENGTH: number = Math.floor(MAX_INLINE_STRING_BYTES / 3);

/** Long strings by their hash. */
export type Blobs = Map<string, string>;

/** True when some string in the value belongs in a blob. */
export function holdsLongString(value: unknown): boolean {
  if (typeof value === 'string') return isLong(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsLongString);
}

/** The value with `{ $blob: hash }` for each long string, which goes into `blobs`; members that look like that are marked. */
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

/** Undoes `splitBlobs` for one value, its members being done: what `JSON.parse` calls on its way up. */
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

/** A user's own member named like a reference gets one more `$`, so that none is taken for one. */
const REFERENCE = /^\$+blob$/;

function toBlobReference(text: string, blobs: Blobs): object {
  const hash = sha256Hex(text);
  blobs.set(hash, text);
  return { $blob: hash };
}

/** Half a surrogate pair would not survive UTF-8: such a string stays in the JSON text, which escapes it. */
function isLong(text: string): boolean {
  if (text.length <= MAX_INLINE_JSON_LENGTH) return false;
  return Buffer.byteLength(text, 'utf8') > MAX_INLINE_STRING_BYTES && text.isWellFormed();
}
