import type { Json } from '../core/json.ts';
import type { MapWrites } from './arcs.ts';
import type { AnyPlace } from './place.ts';
import type { MapChange } from './record.ts';
import { toTokenValue } from './schema.ts';

/** Writes to a map place as the journal keeps them; empty members are left out. */
export function mapChangeOf(place: AnyPlace, writes: MapWrites): MapChange {
  const json = <T>(value: T): T => toTokenValue(place, value) as T;
  const some = (value: object | undefined): boolean =>
    value !== undefined && Object.keys(value).length > 0;
  return {
    place: place.name,
    ...(some(writes.set) && { set: json(writes.set as Readonly<Record<string, Json>>) }),
    ...(some(writes.delete) && { delete: json(writes.delete ?? []) }),
    ...(some(writes.increment) && { increment: json(writes.increment ?? {}) }),
    ...(some(writes.append) && {
      append: json(writes.append as Readonly<Record<string, readonly Json[]>>),
    }),
    ...(writes.replace === true && { replace: true as const }),
  };
}
