import type { Json } from '../../core/index.ts';
import type { MapChange } from './record.ts';

/** Writes to the keys of a map. They apply in the order `set`, `delete`, `increment`, `append`. */
export type KeyWrites = Pick<MapChange, 'set' | 'delete' | 'increment' | 'append'>;

type Entries = Readonly<Record<string, Json>>;

/**
 * Returns the entries after writes. `increment` counts a value that is not a number as 0; `append` counts a value that
 * is not a list as an empty one.
 */
export function applyWrites(before: Entries, writes: KeyWrites): Entries {
  const after: Record<string, Json> = { ...before, ...writes.set };
  for (const key of writes.delete ?? []) delete after[key];
  for (const [key, by] of Object.entries(writes.increment ?? {}))
    after[key] = numberAt(after, key) + by;
  for (const [key, items] of Object.entries(writes.append ?? {}))
    after[key] = Object.freeze([...listAt(after, key), ...items]);
  return after;
}

/** Merges two writes into one. The second applies after the first. */
export function mergeWrites(first: KeyWrites, second: KeyWrites): Required<KeyWrites> {
  const { set: secondSet = {}, delete: secondDelete = [] } = second;
  const overwritten = new Set([...Object.keys(secondSet), ...secondDelete]);
  const left = filterWrites(first, (key) => !overwritten.has(key));
  const set: Record<string, Json> = { ...left.set };
  const increment: Record<string, number> = { ...left.increment };
  const append: Record<string, readonly Json[]> = { ...left.append };
  for (const [key, by] of Object.entries(second.increment ?? {})) {
    if (Object.hasOwn(set, key)) set[key] = numberAt(set, key) + by;
    else increment[key] = numberAt(increment, key) + by;
  }
  for (const [key, items] of Object.entries(second.append ?? {})) {
    if (Object.hasOwn(set, key)) set[key] = [...listAt(set, key), ...items];
    else append[key] = [...listAt(append, key), ...items];
  }
  return {
    set: { ...set, ...secondSet },
    delete: [...left.delete, ...secondDelete],
    increment,
    append,
  };
}

/** Returns the writes to the keys that `isKept` accepts. */
export function filterWrites(
  writes: KeyWrites,
  isKept: (key: string) => boolean,
): Required<KeyWrites> {
  const filterEntries = <V>(entries: Readonly<Record<string, V>> = {}): Record<string, V> =>
    Object.fromEntries(Object.entries(entries).filter(([key]) => isKept(key)));
  return {
    set: filterEntries(writes.set),
    delete: (writes.delete ?? []).filter(isKept),
    increment: filterEntries(writes.increment),
    append: filterEntries(writes.append),
  };
}

/** Lists the written keys, each once. */
export function listWrittenKeys(writes: KeyWrites): readonly string[] {
  const { set = {}, delete: removed = [], increment = {}, append = {} } = writes;
  return [
    ...new Set([
      ...Object.keys(set),
      ...removed,
      ...Object.keys(increment),
      ...Object.keys(append),
    ]),
  ];
}

function numberAt(entries: Entries, key: string): number {
  const value = entries[key];
  return typeof value === 'number' ? value : 0;
}

function listAt(entries: Entries, key: string): readonly Json[] {
  const value = entries[key];
  return Array.isArray(value) ? value : [];
}
