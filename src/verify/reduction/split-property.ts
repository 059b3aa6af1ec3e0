import type { SearchedProperty } from '../properties/property.ts';

/** Splits a property into parts that together state the same. A part needs less of the net. */
export function splitProperty(property: SearchedProperty): readonly SearchedProperty[] {
  switch (property.kind) {
    case 'neverFiresAfter':
      return property.transitions.map((t) => ({ ...property, transitions: [t] }));
    case 'mutualExclusion': {
      const { places } = property;
      return places.flatMap((a, index) =>
        places.slice(index + 1).map((b) => ({ ...property, places: [a, b] })),
      );
    }
    default:
      return [property];
  }
}
