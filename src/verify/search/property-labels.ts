import type { CompiledNet } from '../../net/index.ts';
import { parseLabeledName } from '../system/labels.ts';
import { listNames } from '../properties/name-list.ts';
import type { SearchedProperty } from '../properties/property.ts';

/** The labels that a search must track for a property, without duplicates. */
export function listLabels(net: CompiledNet, property: SearchedProperty): readonly string[] {
  const labels = listEvents(property).flatMap((name) => parseLabeledName(net, name)?.label ?? []);
  return [...new Set(labels)].toSorted();
}

/** The names of a property that may have a label. */
function listEvents(property: SearchedProperty): readonly string[] {
  switch (property.kind) {
    case 'atMost':
      return property.transitions;
    case 'givesAtMost':
      return [property.place];
    case 'neverFiresAfter':
      return [...property.transitions, property.place, ...listNames(property.until)];
    case 'precedes':
      return [property.first, ...property.transitions];
    case 'eventually':
      return [...property.events, ...listNames(property.after)];
    case 'eventuallyAnswered':
      return [property.asked, ...property.answered];
    case 'joinedOrDeadLettered':
      return [property.joined, ...property.deadLetters];
    default:
      return [];
  }
}
