import type { SearchedProperty } from '../properties/property.ts';
import type { ExpandedNet } from '../system/expand.ts';
import type { Kept } from './slice-net.ts';

/**
 * Returns what a safety property observes: the smallest slice that may decide it. Undefined for a property of resting
 * markings or of progress, which needs the whole net.
 */
export function propertyCone(net: ExpandedNet, property: SearchedProperty): Kept | undefined {
  switch (property.kind) {
    case 'placeBound':
    case 'mutualExclusion':
      return toCone(net, property.places);
    case 'unreachable':
      return toCone(net, [...Object.keys(property.marked), ...property.empty]);
    case 'atMost':
      return toCone(net, [...property.transitions, ...list(property.per)]);
    case 'givesAtMost':
      return toCone(net, [property.place, ...list(property.per)]);
    case 'neverFiresAfter':
      return toCone(net, [...property.transitions, property.place, ...list(property.until)]);
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

function list(name: string | undefined): readonly string[] {
  return name === undefined ? [] : [name];
}
