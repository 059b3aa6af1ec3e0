import { readOwn } from '../json/is-record.ts';
import { canonicalJson } from '../json/canonical-json.ts';
import type { Json } from '../json/json.ts';
import { applyKeyWrite, isOverwrite, mergeKeyWrites, type KeyWrite } from './key-write.ts';

/**
 * Writes to state, by key. They apply in the order `set`, `delete`, `increment`, `append`. `increment` counts a value
 * that is not a number as 0; `append` counts a value that is not a list as an empty one. Both merge with concurrent
 * writes.
 */
export interface StateWrites {
  readonly set?: Readonly<Record<string, Json>>;
  readonly delete?: readonly string[];
  readonly increment?: Readonly<Record<string, number>>;
  readonly append?: Readonly<Record<string, readonly Json[]>>;
}

/** Writes in which each key is in one member only. */
export type MergedWrites = Required<StateWrites>;

/** Writes, with the values that they are based on. */
export interface BasedWrites {
  readonly writes: StateWrites;
  /** The values that the writer read of keys that it then set or deleted; null for a missing key. */
  readonly seen?: Entries | undefined;
}

type Entries = Readonly<Record<string, Json>>;

/** Returns the entries after the writes. */
export function applyWrites(before: Entries, writes: StateWrites): Entries {
  const { delta, removed } = toStateDelta(writes, before);
  const after = { ...before, ...delta };
  for (const key of removed) delete after[key];
  return after;
}

/**
 * Returns the values of the written keys after the writes. `undefined`: the key is deleted.
 * @param current reads a value before the writes. It is called only for keys that `increment` or `append` changes
 */
export function writtenValues(
  writes: StateWrites,
  current: (key: string) => Json | undefined,
): ReadonlyMap<string, Json | undefined> {
  return new Map(
    [...toKeyWrites([writes])].map(([key, write]) => [
      key,
      applyKeyWrite(isOverwrite(write) ? undefined : current(key), write),
    ]),
  );
}

/** Merges writes into one. Each applies after those before it. */
export function mergeWrites(...writes: readonly StateWrites[]): MergedWrites {
  return toStateWrites(toKeyWrites(writes));
}

/** Returns the writes to the keys that `isKept` accepts. */
export function restrictWrites(
  writes: StateWrites,
  isKept: (key: string) => boolean,
): MergedWrites {
  return toStateWrites(new Map([...toKeyWrites([writes])].filter(([key]) => isKept(key))));
}

/** True if the writes change no key. */
export function isEmptyWrites(writes: StateWrites): boolean {
  return listWrittenKeys(writes).length === 0;
}

/** Lists the written keys, each once. */
export function listWrittenKeys(writes: StateWrites): readonly string[] {
  return [...toKeyWrites([writes]).keys()];
}

/** Lists the keys that are set or deleted, so that their value before the writes is lost. */
export function listOverwrittenKeys(writes: StateWrites): readonly string[] {
  const { set, delete: removed } = mergeWrites(writes);
  return [...Object.keys(set), ...removed];
}

/** Returns the new values of the keys that the writes assign, and the keys that they delete. */
export function toStateDelta(
  writes: StateWrites,
  before: Entries,
): { readonly delta: Entries; readonly removed: readonly string[] } {
  const written = [...writtenValues(writes, (key) => readOwn(before, key))];
  return {
    delta: Object.fromEntries(
      written.flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const])),
    ),
    removed: written.flatMap(([key, value]) => (value === undefined ? [key] : [])),
  };
}

/**
 * Lists the keys whose current value is not the one that was read, in the order of `seen`. A missing key counts as null.
 * @param current reads the current value, or version, of a key
 */
export function listConflicts(
  seen: Entries,
  current: (key: string) => Json | undefined,
): readonly string[] {
  return Object.entries(seen).flatMap(([key, value]) =>
    canonicalJson(current(key) ?? null) === canonicalJson(value) ? [] : [key],
  );
}

/**
 * Merges two writes into one, with the values that both are based on. The second writer saw the first write applied.
 * @param before the entries before both writes
 */
export function mergeBasedWrites(
  first: BasedWrites,
  second: BasedWrites,
  before: Entries,
): { readonly writes: MergedWrites; readonly seen: Entries } {
  const byFirst = toKeyWrites([first.writes]);
  // The second writer saw only the first write in a key that the first overwrote. In a key that the first added to, it
  // saw the sum, so the value before both must still hold.
  const seen = Object.entries(second.seen ?? {}).flatMap(([key, value]) => {
    const write = byFirst.get(key);
    if (write === undefined) return [[key, value] as const];
    return isOverwrite(write) ? [] : [[key, readOwn(before, key) ?? null] as const];
  });
  return {
    writes: mergeWrites(first.writes, second.writes),
    seen: { ...Object.fromEntries(seen), ...first.seen },
  };
}

/** Groups writes to keys by kind. */
export function toStateWrites(writes: ReadonlyMap<string, KeyWrite>): MergedWrites {
  const set: [string, Json][] = [];
  const removed: string[] = [];
  const increment: [string, number][] = [];
  const append: [string, readonly Json[]][] = [];
  for (const [key, write] of writes) {
    if (write.kind === 'set') set.push([key, write.value]);
    else if (write.kind === 'delete') removed.push(key);
    else if (write.kind === 'increment') increment.push([key, write.by]);
    else append.push([key, write.items]);
  }
  return {
    set: Object.fromEntries(set),
    delete: removed,
    increment: Object.fromEntries(increment),
    append: Object.fromEntries(append),
  };
}

/** One write per key, for writes that apply one after the other. */
function toKeyWrites(all: readonly StateWrites[]): Map<string, KeyWrite> {
  const merged = new Map<string, KeyWrite>();
  const add = (key: string, write: KeyWrite): void => {
    const together = mergeKeyWrites(merged.get(key), write);
    // A key that is overwritten moves to the end.
    if (isOverwrite(write)) merged.delete(key);
    merged.set(key, together);
  };
  for (const { set = {}, delete: removed = [], increment = {}, append = {} } of all) {
    for (const [key, value] of Object.entries(set)) add(key, { kind: 'set', value });
    for (const key of removed) add(key, { kind: 'delete' });
    for (const [key, by] of Object.entries(increment)) add(key, { kind: 'increment', by });
    for (const [key, items] of Object.entries(append)) add(key, { kind: 'append', items });
  }
  return merged;
}
