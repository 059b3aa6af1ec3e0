import { applyWrites, listWrittenKeys } from '../../net/internal.ts';
import type { Json } from '../../core/index.ts';
import type { MapChange } from '../../net/index.ts';

/** The new values of the keys that a change writes. `undefined`: the key is deleted. */
export type WrittenKeys = ReadonlyMap<string, Json | undefined>;

/**
 * Applies a change to the current shared state. `replace` is ignored, because it never concerns shared keys.
 * @param current reads the value of a key that `increment` or `append` changes
 */
export function applySharedWrites(
  writes: MapChange,
  current: (key: string) => Json | undefined,
): WrittenKeys {
  const { set = {}, delete: removed = [], increment = {}, append = {} } = writes;
  const overwritten = new Set([...Object.keys(set), ...removed]);
  const before = [...Object.keys(increment), ...Object.keys(append)]
    .filter((key) => !overwritten.has(key))
    .flatMap((key) => {
      const value = current(key);
      return value === undefined ? [] : [[key, value] as const];
    });
  const after = applyWrites(Object.fromEntries(before), writes);
  return new Map(listWrittenKeys(writes).map((key) => [key, after[key]]));
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
