import { createHash } from 'node:crypto';
import type { Bounds } from './properties/bounds.ts';
import type { ExpandedNet } from './system/expand.ts';
import type { Property } from './properties/property.ts';
import type { PropertyResult } from './report.ts';

/** Remembers what was decided. A `Map` is one; one that outlives the process keeps results as JSON. */
export interface ProofCache {
  readonly get: (key: string) => PropertyResult | undefined;
  readonly set: (key: string, result: PropertyResult) => unknown;
}

/** Names a question: the expanded net with everything that decides what it does, the bounds, the property. */
export function proofCacheKey(net: ExpandedNet, bounds: Bounds, property: Property): string {
  const { places, transitions, environment, faults, keys } = net;
  const initial = net.net.initial.map(({ place, times, value }) => [
    place.name,
    times,
    keys.getKeyFunctions(place.name).map((getKey) => readKey(getKey, value)),
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
  // Infinity has no JSON, and null means something else.
  const text = JSON.stringify(question, (_, value: unknown) =>
    value === Number.POSITIVE_INFINITY ? 'any number' : value,
  );
  return createHash('sha256').update(text).digest('hex');
}

function readKey(getKey: (token: unknown) => string, value: unknown): string | null {
  try {
    return getKey(value);
  } catch {
    return null;
  }
}
