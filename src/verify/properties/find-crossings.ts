import type { CompiledNet } from '../../net/index.ts';
import type { CompiledTransition } from '../../net/internal.ts';
import type { Isolated } from './property.ts';
import { UnknownNameError } from './verify-errors.ts';

/**
 * Returns the transitions of one part that have an arc to a place of the other, or that depend on a shared place which
 * the other part fills.
 * @throws UnknownNameError if the net does not have one of the parts or a place of `through`.
 */
export function findCrossings(
  net: CompiledNet,
  { parts, through }: Pick<Isolated, 'parts' | 'through'>,
): readonly string[] {
  for (const name of through) {
    if (!net.places.has(name))
      throw new UnknownNameError(net.name, `place "${name}" (through)`, [...net.places.keys()]);
  }
  const [one, other] = parts.map((part) => requirePart(net, part));
  if (one === undefined || other === undefined) return [];
  const open = new Set(through);
  const crosses = (from: Part, to: Part): readonly string[] =>
    from.transitions
      .filter(
        (t) =>
          listPlaces(t).some((place) => to.has(place) && !open.has(place)) ||
          listDependencies(t).some(
            (place) => !from.has(place) && !to.has(place) && !open.has(place) && to.fills(place),
          ),
      )
      .map(({ name }) => name);
  return [...crosses(one, other), ...crosses(other, one)];
}

interface Part {
  readonly transitions: readonly CompiledTransition[];
  readonly has: (place: string) => boolean;
  readonly fills: (place: string) => boolean;
}

function requirePart(net: CompiledNet, part: string): Part {
  const has = (name: string): boolean =>
    name.startsWith(`${part}/`) || name.startsWith(`running(${part}/`);
  const transitions = net.transitions.filter(({ name }) => has(name));
  if (transitions.length === 0) {
    const known = net.transitions.flatMap(({ name }) => /^(.*?)\//.exec(name)?.[1] ?? []);
    throw new UnknownNameError(net.name, `part "${part}"`, [...new Set(known)]);
  }
  const filled = new Set(transitions.flatMap(listOutputs));
  return { transitions, has, fills: (place) => filled.has(place) };
}

/** The places of all arcs of a transition. */
function listPlaces(t: CompiledTransition): readonly string[] {
  return [...listDependencies(t), ...t.reset.map(({ name }) => name), ...listOutputs(t)];
}

/** The places that decide whether a transition fires, and with which values. */
function listDependencies(t: CompiledTransition): readonly string[] {
  return [
    ...t.takes.map(({ place }) => place),
    ...t.reads.map(({ place }) => place),
    ...t.unless.map(({ name }) => name),
  ];
}

function listOutputs(t: CompiledTransition): readonly string[] {
  return [...t.alternatives.values()].flatMap(({ outputs }) =>
    outputs.map(({ place }) => place.name),
  );
}
