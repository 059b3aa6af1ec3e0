import type { Json } from '../../core/index.ts';
import { applyWrites, isSharedKey, listWrittenKeys } from '../../core/internal.ts';
import { ensureFrozen } from './ensure-frozen.ts';
import type { MapChange } from './record.ts';

/** The content of a map place. It is immutable: a write creates a new object. */
export type MapState = Readonly<Record<string, Json>>;

const empty: MapState = {};

/** Returns the map of a place, or an empty map. */
export function getMap(maps: ReadonlyMap<string, MapState>, place: string): MapState {
  return maps.get(place) ?? empty;
}

/** Applies writes to a map by replacing it with a new one. */
export function applyMapChange(maps: Map<string, MapState>, writes: MapChange): void {
  const before = getMap(maps, writes.place);
  const kept =
    writes.replace === true
      ? Object.fromEntries(Object.entries(before).filter(([key]) => isSharedKey(key)))
      : before;
  const { set = {}, append = {} } = writes;
  for (const value of [...Object.values(set), ...Object.values(append).flat()]) ensureFrozen(value);
  maps.set(writes.place, Object.freeze(applyWrites(kept, writes)));
}

/** Returns the versions of the shared keys after these writes. Each written key's version increases by one. */
export function bumpSharedVersions(
  versions: Readonly<Record<string, number>>,
  writes: MapChange,
): Readonly<Record<string, number>> {
  const written = listWrittenKeys(writes).filter(isSharedKey);
  if (written.length === 0) return versions;
  const counted = written.map((key) => [key, (versions[key] ?? 0) + 1] as const);
  return { ...versions, ...Object.fromEntries(counted) };
}
