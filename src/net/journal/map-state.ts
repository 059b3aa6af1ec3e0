import type { Json } from '../../core/index.ts';
import { ensureFrozen } from './ensure-frozen.ts';
import type { MapChange } from './record.ts';

/** The content of a map place. It is immutable: a write creates a new object. */
export type MapState = Readonly<Record<string, Json>>;

const empty: MapState = {};

/** Returns the map of a place, or an empty map. */
export function getMap(maps: ReadonlyMap<string, MapState>, place: string): MapState {
  return maps.get(place) ?? empty;
}

/** True for a key with the prefix `user:` or `app:`. The store owns these keys; a map place holds a copy of them. */
export function isSharedKey(key: string): boolean {
  return key.startsWith('user:') || key.startsWith('app:');
}

/** Applies writes to a map by replacing it with a new one. */
export function applyMapChange(maps: Map<string, MapState>, writes: MapChange): void {
  const before = getMap(maps, writes.place);
  const kept =
    writes.replace === true
      ? Object.fromEntries(Object.entries(before).filter(([key]) => isSharedKey(key)))
      : before;
  const after: Record<string, Json> = { ...kept };
  for (const [key, value] of Object.entries(writes.set ?? {})) after[key] = ensureFrozen(value);
  for (const key of writes.delete ?? []) delete after[key];
  for (const [key, by] of Object.entries(writes.increment ?? {})) {
    after[key] = numberAt(after, key) + by;
  }
  for (const [key, items] of Object.entries(writes.append ?? {})) {
    after[key] = Object.freeze([...listAt(after, key), ...items.map(ensureFrozen)]);
  }
  maps.set(writes.place, Object.freeze(after));
}

/** Returns the versions of the shared keys after these writes. Each written key's version increases by one. */
export function bumpSharedVersions(
  versions: Readonly<Record<string, number>>,
  writes: MapChange,
): Readonly<Record<string, number>> {
  const written = listSharedKeys(writes);
  if (written.length === 0) return versions;
  const counted = written.map((key) => [key, (versions[key] ?? 0) + 1] as const);
  return { ...versions, ...Object.fromEntries(counted) };
}

function listSharedKeys(writes: MapChange): readonly string[] {
  return [
    ...Object.keys(writes.set ?? {}),
    ...(writes.delete ?? []),
    ...Object.keys(writes.increment ?? {}),
    ...Object.keys(writes.append ?? {}),
  ].filter(isSharedKey);
}

function numberAt(entries: Readonly<Record<string, Json>>, key: string): number {
  const value = entries[key];
  return typeof value === 'number' ? value : 0;
}

function listAt(entries: Readonly<Record<string, Json>>, key: string): readonly Json[] {
  const value = entries[key];
  return Array.isArray(value) ? value : [];
}
