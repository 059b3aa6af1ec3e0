import type { AnyPlace, CompiledNet } from '../../net/index.ts';
import { InvalidInputError } from '../../core/index.ts';

export type NetTransition = CompiledNet['transitions'][number];

/** The place of this name. @throws InvalidInputError: a misspelt name must not look like a net without faults. */
export function requirePlace(net: CompiledNet, name: string, option: string): AnyPlace {
  const place = net.places.get(name);
  if (place === undefined)
    throw new InvalidInputError(
      option,
      `names the place "${name}", which net "${net.name}" does not have: it has ${[...net.places.keys()].toSorted().join(', ')}.`,
    );
  return place;
}

export function findConsumers(net: CompiledNet, place: string): readonly NetTransition[] {
  return net.transitions.filter((t) => takes(t, place));
}

export function findProducers(net: CompiledNet, place: string): readonly NetTransition[] {
  return net.transitions.filter((t) => produces(t, place));
}

export function takes(t: NetTransition, place: string): boolean {
  return t.takes.some((input) => input.place === place);
}

export function reads(t: NetTransition, place: string): boolean {
  return t.reads.some((input) => input.place === place);
}

/** True when some alternative of this transition may put something there. */
export function produces(t: NetTransition, place: string): boolean {
  return [...t.alternatives.values()].some(({ outputs }) =>
    outputs.some((output) => output.place.name === place),
  );
}

export function quoteNames(transitions: readonly NetTransition[]): string {
  return transitions.map(({ name }) => `"${name}"`).join(' and ');
}
