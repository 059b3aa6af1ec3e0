import type { AnyPlace, CompiledNet } from '../../net/index.ts';
import { InvalidInputError } from '../../core/index.ts';

/** A transition of a compiled net. */
export type NetTransition = CompiledNet['transitions'][number];

/**
 * The place of this name.
 * @throws InvalidInputError if there is none, because a misspelled name must not look like a net without problems
 */
export function requirePlace(net: CompiledNet, name: string, option: string): AnyPlace {
  const place = net.places.get(name);
  if (place === undefined)
    throw new InvalidInputError(
      option,
      `names the place "${name}", which net "${net.name}" does not have. Its places: ${[...net.places.keys()].toSorted().join(', ')}.`,
    );
  return place;
}

/** The transitions that take from this place. */
export function findConsumers(net: CompiledNet, place: string): readonly NetTransition[] {
  return net.transitions.filter((t) => takes(t, place));
}

/** The transitions that can put something in this place. */
export function findProducers(net: CompiledNet, place: string): readonly NetTransition[] {
  return net.transitions.filter((t) => produces(t, place));
}

/** True if the transition takes from this place. */
export function takes(t: NetTransition, place: string): boolean {
  return t.takes.some((input) => input.place === place);
}

/** True if the transition reads this place. */
export function reads(t: NetTransition, place: string): boolean {
  return t.reads.some((input) => input.place === place);
}

/** True if an alternative of the transition can put something in this place. */
export function produces(t: NetTransition, place: string): boolean {
  return [...t.alternatives.values()].some(({ outputs }) =>
    outputs.some((output) => output.place.name === place),
  );
}

/** The quoted names of the transitions, joined with "and". */
export function quoteNames(transitions: readonly NetTransition[]): string {
  return transitions.map(({ name }) => `"${name}"`).join(' and ');
}
