import { isJsonObject } from '../../core/internal.ts';
import type { Json } from '../../core/index.ts';

/**
 * How much of the values an inspection shows.
 * - `none`: numbers of tokens, no values.
 * - `shape`: values as JSON whose leaves are replaced by their types, and texts by their lengths: `"text(12)"`.
 * - `full`: the values.
 */
export type ValueDetail = 'none' | 'shape' | 'full';

export const VALUE_DETAILS: readonly ValueDetail[] = ['none', 'shape', 'full'];

/** Returns a value with this detail. Undefined for `none`. */
export function showValue(value: Json, detail: ValueDetail): Json | undefined {
  if (detail === 'none') return undefined;
  return detail === 'full' ? value : toShape(value);
}

/** Replaces each leaf by its type: `text(12)` with the number of characters, `number`, `boolean`, `null`. */
export function toShape(value: Json): Json {
  if (Array.isArray(value)) return value.map(toShape);
  if (isJsonObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, toShape(one)]));
  }
  if (typeof value === 'string') return `text(${value.length})`;
  return value === null ? 'null' : typeof value;
}
