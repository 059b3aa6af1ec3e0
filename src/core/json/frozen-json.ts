import { decodeJson, encodeJson, MAX_JSON_DEPTH } from './encode-json.ts';
import { deepFreeze, isPlainObject, type Json } from './json.ts';

/**
 * The value as JSON would give it back, copied and frozen: what the journal holds, and what a recovery finds.
 * The same as `deepFreeze(decodeJson(encodeJson(value, what), what))`, in a quarter of the time.
 * @param what names the value in the error.
 * @throws NotSerializableError naming the path.
 */
export function frozenJson(value: unknown, what: string): Json {
  const copy = copyJson(value, 0);
  // What is not plain data goes the long way, which honours `toJSON` and can say why it refuses.
  return copy === undefined ? deepFreeze(decodeJson(encodeJson(value, what), what)) : copy;
}

/** Undefined for what is not plain data. */
function copyJson(value: unknown, depth: number): Json | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  // JSON has no negative zero.
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : undefined;
  if (typeof value !== 'object' || depth >= MAX_JSON_DEPTH || 'toJSON' in value) return undefined;
  return Array.isArray(value) ? copyList(value, depth) : copyObject(value, depth);
}

function copyList(list: readonly unknown[], depth: number): Json | undefined {
  // As long as needed: one that grows has room for 16 more, and most lists hold one or two items and are kept.
  const copy = Array<Json>(list.length);
  // By index: a hole is seen as what it is, undefined, and refused.
  for (let index = 0; index < list.length; index++) {
    const item = copyJson(list[index], depth + 1);
    if (item === undefined) return undefined;
    copy[index] = item;
  }
  return Object.freeze(copy);
}

function copyObject(value: object, depth: number): Json | undefined {
  if (!isPlainObject(value)) return undefined;
  const copy: Record<string, Json> = {};
  // Not Object.entries: it allocates, and this runs for every token.
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    const member = value[key];
    if (member === undefined) continue;
    const one = copyJson(member, depth + 1);
    // A member of this name cannot be made by assigning.
    if (one === undefined || key === '__proto__') return undefined;
    copy[key] = one;
  }
  return Object.freeze(copy);
}
