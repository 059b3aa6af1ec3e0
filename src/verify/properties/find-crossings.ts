import type { CompiledNet } from '../../net/index.ts';
import type { CompiledTransition } from '../../net/internal.ts';
import type { Isolated } from './property.ts';
import { UnknownNameError } from './verify-errors.ts';

/**
 * Returns the transitions of one part that have an arc to a place of the other, or that depend on a place which the
 * other part changes, directly or through transitions of neither part.
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
  const others = net.transitions.filter(({ name }) => !one.has(name) && !other.has(name));
  const crosses = (from: Part, to: Part): readonly string[] => {
    // What a part changes in the other is an arc to it, which counts by itself.
    const isIgnored = (place: string): boolean => open.has(place) || from.has(place);
    const changed = findChangedPlaces(to, isIgnored, others, open);
    return from.transitions
      .filter(
        (t) =>
          listPlaces(t).some((place) => to.has(place) && !open.has(place)) ||
          listDependencies(t).some((place) => changed.has(place)),
      )
      .map(({ name }) => name);
  };
  return [...crosses(one, other), ...crosses(other, one)];
}

/** The places that a part changes, and those that the transitions of no part change because of it. */
function findChangedPlaces(
  part: Part,
  isIgnored: (place: string) => boolean,
  others: readonly CompiledTransition[],
  open: ReadonlySet<string>,
): ReadonlySet<string> {
  const changed = new Set(part.transitions.flatMap(listChanges).filter((p) => !isIgnored(p)));
  const waiting = new Set(others);
  for (;;) {
    const next = [...waiting].filter((t) =>
      listDependencies(t).some((place) => changed.has(place)),
    );
    if (next.length === 0) return changed;
    for (const t of next) waiting.delete(t);
    for (const place of next.flatMap(listChanges)) if (!open.has(place)) changed.add(place);
  }
}

interface Part {
  readonly transitions: readonly CompiledTransition[];
  readonly has: (name: string) => boolean;
}

function requirePart(net: CompiledNet, part: string): Part {
  const has = (name: string): boolean =>
    name.startsWith(`${part}/`) || name.startsWith(`running(${part}/`);
  const transitions = net.transitions.filter(({ name }) => has(name));
  if (transitions.length === 0) {
    const known = net.transitions.flatMap(({ name }) => /^(.*?)\//.exec(name)?.[1] ?? []);
    throw new UnknownNameError(net.name, `part "${part}"`, [...new Set(known)]);
  }
  return { transitions, has };
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

/** The places whose tokens a transition takes, drops or gives. The firings of an effect come and go. */
function listChanges(t: CompiledTransition): readonly string[] {
  return [
    ...(t.spec.kind === 'effect' ? [t.running] : []),
    ...t.takes.map(({ place }) => place),
    ...t.reset.map(({ name }) => name),
    ...listOutputs(t),
  ];
}

function listOutputs(t: CompiledTransition): readonly string[] {
  return [...t.alternatives.values()].flatMap(({ outputs }) =>
    outputs.map(({ place }) => place.name),
  );
}
