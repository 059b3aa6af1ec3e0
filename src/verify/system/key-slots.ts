import type { CompiledInput } from '../../net/internal.ts';
import type { CompiledNet } from '../../net/index.ts';

/**
 * The correlation keys of a net. A token has one key (a slot) for each key function that `matching` inputs apply to its
 * place. Key functions that some transition matches with one another share a domain; keys are compared only within a
 * domain.
 */
export interface KeySlots {
  /** Returns the domain of each key slot of a place. */
  readonly getDomains: (place: string) => readonly number[];
  /** Returns the key slot that an input compares; -1 for an input without `matching`. */
  readonly getSlot: (input: CompiledInput) => number;
  /** Returns the key function of each key slot of a place. */
  readonly getKeyFunctions: (place: string) => readonly ((token: unknown) => string)[];
  /** The number of domains. */
  readonly domains: number;
  /** True if the tokens of some place have more than one key. */
  readonly hasMultipleKeys: boolean;
}

type KeyFunction = (token: unknown) => string;

/** Collects the correlation keys of a net. */
export function keySlots(net: CompiledNet): KeySlots {
  const functions = new Map<string, KeyFunction[]>();
  for (const input of net.transitions.flatMap((t) => t.takes)) {
    if (input.getKey === undefined) continue;
    const known = functions.get(input.place) ?? [];
    if (!known.includes(input.getKey)) known.push(input.getKey);
    functions.set(input.place, known);
  }
  const getSlot = (input: CompiledInput): number =>
    input.getKey === undefined ? -1 : (functions.get(input.place) ?? []).indexOf(input.getKey);
  const group = new Map<string, string>();
  const root = (key: string): string => {
    const above = group.get(key) ?? key;
    return above === key ? key : root(above);
  };
  for (const t of net.transitions) {
    const keyed = t.takes.filter((input) => input.getKey !== undefined);
    const nodes = keyed.map((input) => `${getSlot(input)} ${input.place}`);
    for (const node of nodes) group.set(root(node), root(nodes[0] ?? node));
  }
  const roots = [
    ...new Set(
      [...functions].flatMap(([place, list]) => list.map((_, slot) => root(`${slot} ${place}`))),
    ),
  ];
  const domains = new Map(
    [...functions].map(([place, list]) => [
      place,
      list.map((_, slot) => roots.indexOf(root(`${slot} ${place}`))),
    ]),
  );
  return {
    getDomains: (place) => domains.get(place) ?? [],
    getSlot,
    getKeyFunctions: (place) => functions.get(place) ?? [],
    domains: roots.length,
    hasMultipleKeys: [...functions.values()].some((list) => list.length > 1),
  };
}
