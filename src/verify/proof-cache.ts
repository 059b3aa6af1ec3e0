import { createHash } from 'node:crypto';
import { parseTokenValue } from '../net/internal.ts';
import type { AnyPlace } from '../net/index.ts';
import type { Bounds } from './properties/bounds.ts';
import type { ExpandedNet } from './system/expand.ts';
import type { Property } from './properties/property.ts';
import type { PropertyResult } from './report.ts';

/** A cache of decided results. A `Map` is one. A cache that outlives the process can store results as JSON. */
export interface ProofCache {
  readonly get: (key: string) => PropertyResult | undefined;
  readonly set: (key: string, result: PropertyResult) => unknown;
}

/** Returns the cache key of a proof: a hash of the expanded net, the initial tokens, the bounds and the property. */
export function proofCacheKey(net: ExpandedNet, bounds: Bounds, property: Property): string {
  const { places, transitions, environment, faults, keys } = net;
  const initial = net.net.initial.map(({ place, times, value }) => [
    place.name,
    times,
    keys.getKeyFunctions(place.name).map((getKey) => readKey(getKey, place, value)),
  ]);
  const question = [
    net.net.hash,
    places,
    transitions,
    environment,
    faults,
    initial,
    bounds,
    property,
  ];
  // JSON has no Infinity, and null has another meaning here. This text is part of the key.
  const text = JSON.stringify(question, (_, value: unknown) =>
    value === Number.POSITIVE_INFINITY ? 'any number' : value,
  );
  return createHash('sha256').update(text).digest('hex');
}

function readKey(
  getKey: (token: unknown) => string,
  place: AnyPlace,
  value: unknown,
): string | null {
  try {
    return getKey(parseTokenValue(place, value));
  } catch {
    return null;
  }
}
