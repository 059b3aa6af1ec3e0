import { sha256Hex } from '../../core/index.ts';

const MAX_PART_LENGTH = 120;
const HASHED = '~';

/**
 * Encodes a name as one path segment: it contains no separator, cannot leave its folder and is not
 * too long for a file name.
 */
export function encodePathSegment(name: string): string {
  const encoded = encodeURIComponent(name).replaceAll(
    /[.!~*'()]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  // A single dot inside a name is safe and keeps file names readable.
  const readable = encoded.replaceAll(/(?<=[^.])%2E(?=[^%.]|$)/g, '.');
  return readable.length <= MAX_PART_LENGTH ? readable : `${HASHED}${sha256Hex(name)}`;
}

/** The name of a segment. Undefined for one that `encodePathSegment` does not make, such as that of another program, or a hash. */
export function decodePathSegment(segment: string): string | undefined {
  try {
    const name = decodeURIComponent(segment);
    return encodePathSegment(name) === segment ? name : undefined;
  } catch {
    return undefined;
  }
}

/** True: the name was too long for a path, and the segment has its hash. */
export function isHashedSegment(segment: string): boolean {
  return segment.startsWith(HASHED);
}
