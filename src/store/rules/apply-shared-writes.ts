import type { Json } from '../../core/index.ts';
import type { MapChange } from '../../net/index.ts';

/** The new values of the keys that a change writes. `undefined`: the key is deleted. */
export type WrittenKeys = ReadonlyMap<string, Json | undefined>;

/**
 * Applies a change to the current shared state, in the order set, delete, increment, append. `increment` counts a value
 * that is not a number as 0; `append` counts a value that is not a list as an empty one. `replace` is ignored, because
 * it never concerns shared keys.
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

/** Lists the keys whose version changed after they were read, in the order of `reads`. */
export function findChangedKeys(
  reads: Readonly<Record<string, number>>,
  currentVersion: (key: string) => number,
): readonly string[] {
  return Object.entries(reads).flatMap(([key, version]) =>
    currentVersion(key) === version ? [] : [key],
  );
}
