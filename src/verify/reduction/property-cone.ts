import { listNames } from '../properties/name-list.ts';
import type { SearchedProperty } from '../properties/property.ts';
import type { ExpandedNet } from '../system/expand.ts';
import type { Kept } from './slice-net.ts';

/**
 * Returns what a safety property observes: the smallest slice that may decide it. A property of resting markings
 * observes all places: its slice is the net without keys and with limited counts. Undefined for a property of progress.
 */
export function propertyCone(net: ExpandedNet, property: SearchedProperty): Kept | undefined {
  switch (property.kind) {
    case 'placeBound':
    case 'mutualExclusion':
      return toCone(net, property.places);
    case 'unreachable':
      return toCone(net, [...Object.keys(property.marked), ...property.empty]);
    case 'atMost':
      return toCone(net, [...property.transitions, ...listNames(property.per)]);
    case 'givesAtMost':
      return toCone(net, [property.place, ...listNames(property.per)]);
    case 'neverFiresAfter':
      return toCone(net, [...property.transitions, property.place, ...listNames(property.until)]);
    case 'precedes':
      // A slice does not see every token that leaves a place with many, and here a renewal may break the property.
      return property.per === undefined
        ? toCone(net, [...property.transitions, property.first])
        : undefined;
    case 'neverTakes':
      return toCone(net, [...property.by, ...property.places]);
    case 'neverStale':
      return toCone(net, [...property.commits, ...property.renewals, ...property.work]);
    case 'deadlockFree':
      return toCone(
        net,
        net.places.map(({ name }) => name),
      );
    default:
      return undefined;
  }
}

/** Sorts names into places, transitions and outlets. An event may be any of them. */
function toCone(net: ExpandedNet, names: readonly string[]): Kept {
  return {
    places: new Set(names.flatMap((name) => net.placeIndex.get(name) ?? [])),
    transitions: new Set(names.flatMap((name) => net.net.byName.get(name)?.index ?? [])),
    outlets: new Set(names.filter((name) => net.net.places.get(name)?.kind === 'outlet')),
  };
}
