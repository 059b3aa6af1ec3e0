import type { Json } from '../../core/json/json.ts';
import type { MapChange } from '../../net/journal/record.ts';

/** What becomes of the keys that a change writes: their new values, `undefined` for a deleted one. */
export type WrittenKeys = ReadonlyMap<string, Json | undefined>;

/**
 * Applies a change of shared state to the values as they are now, in the order replace, set, delete, increment, append.
 * `increment` and `append` merge: a value that is no number counts as 0, one that is no list as an empty one.
 * `replace` changes nothing here: it never touches shared keys.
 */
export function applySharedWrites(
  writes: MapChange,
  current: (key: string) => Json | undefined,
): WrittenKeys {
  const written = new Map<string, Json | undefined>(Object.entries(writes.set ?? {}));
  const currentValue = (key: string): Json | undefined =>
    written.has(key) ? written.get(key) : current(key);
  for (const key of writes.delete ?? []) written.set(key, undefined);
  for (const [key, by] of Object.entries(writes.increment ?? {})) {
    const value = currentValue(key);
    written.set(key, (typeof value === 'number' ? value : 0) + by);
  }
  for (const [key, items] of Object.entries(writes.append ?? {})) {
    const value = currentValue(key);
    written.set(key, Object.freeze([...(Array.isArray(value) ? value : []), ...items]));
  }
  return written;
}

/** The keys that moved since they were read, in the order of `reads`. */
export function findChangedKeys(
  reads: Readonly<Record<string, number>>,
  currentVersion: (key: string) => number,
): readonly string[] {
  return Object.entries(reads).flatMap(([key, version]) =>
    currentVersion(key) === version ? [] : [key],
  );
}
