import { decodeJson } from './decode-json.ts';
import { encodeJson } from './encode-json.ts';
import type { Json } from './json.ts';

/**
 * Writes a value as JSON with the members of every object sorted by UTF-16 code unit, so that equal values give equal
 * text. It is used for fingerprints.
 * @throws NotSerializableError for every value that `encodeJson` rejects.
 */
export function canonicalJson(value: unknown, what = 'value'): string {
  return canonical(decodeJson(encodeJson(value, what), what));
}

function canonical(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`;
}
