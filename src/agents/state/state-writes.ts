import type { Json, JsonObject } from '../../core/index.ts';
import type { MapWrites } from '../../net/index.ts';
import type { SessionWrite } from '../vocabulary/state.ts';

/** The state after this write, if there is no concurrent write. */
export function applyWrites(state: JsonObject, write: SessionWrite | undefined): JsonObject {
  if (write === undefined) return state;
  const { set = {}, delete: removed = [], increment = {}, append = {} } = write.writes;
  const after: Record<string, Json> = { ...state, ...set };
  for (const key of removed) delete after[key];
  for (const [key, by] of Object.entries(increment)) after[key] = numberAt(state, key) + by;
  for (const [key, items] of Object.entries(append))
    after[key] = [...listAt(state, key), ...asJson(items)];
  return after;
}

/**
 * Merges two writes into one. The second writer saw the state with the first write applied.
 * @param state before both of them
 */
export function mergeWrites(
  first: SessionWrite | undefined,
  second: SessionWrite | undefined,
  state: JsonObject,
): SessionWrite | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  const overwritten = [...Object.keys(second.writes.set ?? {}), ...(second.writes.delete ?? [])];
  const left = omitKeys(first.writes, overwritten);
  const known = left.set ?? {};
  const added = Object.entries(second.writes.increment ?? {});
  const appended = Object.entries(second.writes.append ?? {});
  const isKnown = ([key]: readonly [string, unknown]): boolean => key in known;
  const writes: MapWrites = {
    set: {
      ...known,
      ...Object.fromEntries(
        added.filter(isKnown).map(([key, by]) => [key, numberAt(known, key) + by]),
      ),
      ...Object.fromEntries(
        appended
          .filter(isKnown)
          .map(([key, items]) => [key, [...listAt(known, key), ...asJson(items)]]),
      ),
      ...second.writes.set,
    },
    delete: [...(left.delete ?? []), ...(second.writes.delete ?? [])],
    increment: {
      ...left.increment,
      ...Object.fromEntries(
        added
          .filter((entry) => !isKnown(entry))
          .map(([key, by]) => [key, (left.increment?.[key] ?? 0) + by]),
      ),
    },
    append: {
      ...left.append,
      ...Object.fromEntries(
        appended
          .filter((entry) => !isKnown(entry))
          .map(([key, items]) => [key, [...(left.append?.[key] ?? []), ...items]]),
      ),
    },
  };
  // For a key that the first write set or deleted, the second writer saw only that. For a key that it incremented or
  // appended to, the second writer saw the result, so the value before both is what must still hold.
  const setByFirst = [...Object.keys(first.writes.set ?? {}), ...(first.writes.delete ?? [])];
  const addedTo = [first.writes.increment, first.writes.append].flatMap((part) =>
    Object.keys(part ?? {}),
  );
  const seen = Object.entries(second.seen ?? {}).flatMap(([key, value]) => {
    if (setByFirst.includes(key)) return [];
    return [[key, addedTo.includes(key) ? (state[key] ?? null) : value] as const];
  });
  return { writes, seen: { ...Object.fromEntries(seen), ...first.seen } };
}

function omitKeys(writes: MapWrites, keys: readonly string[]): MapWrites {
  const kept = <V>(entries: Readonly<Record<string, V>> = {}): Readonly<Record<string, V>> =>
    Object.fromEntries(Object.entries(entries).filter(([key]) => !keys.includes(key)));
  return {
    set: kept(writes.set),
    delete: (writes.delete ?? []).filter((key) => !keys.includes(key)),
    increment: kept(writes.increment),
    append: kept(writes.append),
  };
}

function numberAt(entries: JsonObject, key: string): number {
  const value = entries[key];
  return typeof value === 'number' ? value : 0;
}

function listAt(entries: JsonObject, key: string): readonly Json[] {
  const value = entries[key];
  return Array.isArray(value) ? asJson(value) : [];
}

function asJson(items: readonly unknown[]): readonly Json[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both come from state, which holds JSON
  return items as readonly Json[];
}
