import type { JsonObject } from '../../core/index.ts';
import { applyWrites, mergeWrites, type KeyWrites } from '../../net/internal.ts';
import type { MapWrites } from '../../net/index.ts';
import type { SessionWrite } from '../vocabulary/state.ts';

/** The state after this write, if there is no concurrent write. */
export function applySessionWrite(state: JsonObject, write: SessionWrite | undefined): JsonObject {
  return write === undefined ? state : applyWrites(state, toKeyWrites(write.writes));
}

/**
 * Merges two writes into one. The second writer saw the state with the first write applied.
 * @param state before both of them
 */
export function mergeSessionWrites(
  first: SessionWrite | undefined,
  second: SessionWrite | undefined,
  state: JsonObject,
): SessionWrite | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  const writes = mergeWrites(toKeyWrites(first.writes), toKeyWrites(second.writes));
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

/** The same writes. The items of `append` come from state, which holds JSON. */
export function toKeyWrites(writes: MapWrites): KeyWrites {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a writer to state gives JSON
  return writes as KeyWrites;
}
