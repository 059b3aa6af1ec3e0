import { faultPlace, unhandledFaultPlace } from '../../net/index.ts';
import type { CompiledNet } from '../../net/index.ts';
import { findGenerations } from './find-generations.ts';
import { findCrossings } from './find-crossings.ts';
import { findAbandonedJoins } from './find-joins.ts';
import type { Property, SearchedProperty } from './property.ts';

/** A property with all its names, or the reason why the arcs of the net alone decide that it holds. */
export type ResolvedProperty =
  | { readonly properties: readonly SearchedProperty[] }
  | { readonly heldBy: string };

/**
 * Finds the places and transitions that a derived property is about. It holds if all the returned properties hold.
 * @throws UnknownNameError if the property names a part or place that the net does not have.
 */
export function resolveProperty(net: CompiledNet, property: Property): ResolvedProperty {
  const { name } = property;
  switch (property.kind) {
    case 'bounded': {
      const { max } = property;
      const places = listBoundedPlaces(net);
      return { properties: [{ kind: 'placeBound', name, places, max, each: true }] };
    }
    case 'isolated': {
      const transitions = findCrossings(net, property);
      if (transitions.length === 0) return { heldBy: 'the arcs: no transition joins the parts' };
      return { properties: [{ kind: 'atMost', name, transitions, max: 0, per: undefined }] };
    }
    case 'joinsComplete': {
      const ends = findAbandonedJoins(net, property.ends);
      if (ends.length === 0)
        return { heldBy: 'the arcs: no transition takes what waits at a join' };
      return {
        properties: ends.map(({ end, inputs }) => ({
          kind: 'neverTakes',
          name,
          by: [end],
          places: inputs,
        })),
      };
    }
    case 'noStaleCommits': {
      const found = findGenerations(net);
      if (found.length === 0)
        return { heldBy: 'the arcs: no transition reads a generation before it commits' };
      const generations = found.filter(({ unchecked }) => unchecked.length > 0);
      if (generations.length === 0)
        return { heldBy: 'the arcs: every commit reads the latest generation' };
      return {
        properties: generations.map(({ renewals, unchecked, work }) => ({
          kind: 'neverStale',
          name,
          commits: unchecked,
          renewals,
          work,
        })),
      };
    }
    default:
      return { properties: [omitRepeats(property)] };
  }
}

/** The property without repeated names, which would count the same tokens again. */
function omitRepeats(property: SearchedProperty): SearchedProperty {
  switch (property.kind) {
    case 'placeBound':
    case 'mutualExclusion':
      return { ...property, places: [...new Set(property.places)] };
    case 'joinedOrDeadLettered': {
      const [, ...deadLetters] = new Set([property.joined, ...property.deadLetters]);
      return { ...property, deadLetters };
    }
    default:
      return property;
  }
}

/** All places of tokens, and `running(t)`; not the places of faults, which the bounds limit. */
function listBoundedPlaces(net: CompiledNet): readonly string[] {
  const tokens = [...net.places.values()].filter(({ kind }) => kind === 'tokens');
  const effects = net.transitions.filter(({ spec }) => spec.kind === 'effect');
  const faults: readonly string[] = [faultPlace.name, unhandledFaultPlace.name];
  return [...tokens.map(({ name }) => name), ...effects.map(({ running }) => running)].filter(
    (name) => !faults.includes(name),
  );
}
