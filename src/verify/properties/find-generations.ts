import type { CompiledNet } from '../../net/index.ts';
import type { CompiledTransition } from '../../net/internal.ts';

/** A place whose one token is the latest generation, and the commits that it guards. */
export interface Generation {
  readonly place: string;
  /** The transitions that replace its token. */
  readonly renewals: readonly string[];
  /** The places, lists and outlets to which a transition commits only if its work is of the latest generation. */
  readonly committed: readonly string[];
  /** The transitions that fill one of them from the same work, but do not see the generation or cannot skip. */
  readonly unchecked: readonly string[];
  /** The places of the work: from where it begins to the commit. */
  readonly work: readonly string[];
  /** True if only effects read the generation before they commit. Then it may also be a setting. */
  readonly isReadByEffects: boolean;
}

/**
 * Finds the generations of a net: the places with exactly one initial token that some transitions take and put back, and
 * that others read before they commit. A commit is an output that the reader can skip.
 */
export function findGenerations(net: CompiledNet): readonly Generation[] {
  return [...net.places.values()]
    .filter(({ kind, name }) => kind === 'tokens' && countInitial(net, name) === 1)
    .flatMap(({ name }) => toGeneration(net, name));
}

function toGeneration(net: CompiledNet, place: string): readonly Generation[] {
  const takers = net.transitions.filter((t) => t.takes.some((input) => input.place === place));
  const isReplaced = takers.every((t) => alwaysGives(t, place));
  if (takers.length === 0 || !isReplaced) return [];
  const readers = net.transitions.filter((t) => t.reads.some((input) => input.place === place));
  const guarded = readers.filter((t) => t.spec.kind === 'pure' && listSkippable(t).length > 0);
  const isReadByEffects = guarded.length === 0;
  const committing = isReadByEffects ? readers.filter((t) => listSkippable(t).length > 0) : guarded;
  if (committing.length === 0) return [];
  const committed = [...new Set(committing.flatMap(listSkippable))];
  // An effect that reads the generation commits later. One that takes it holds it until then.
  const isChecked = (t: CompiledTransition, name: string): boolean =>
    (takers.includes(t) || guarded.includes(t)) && listSkippable(t).includes(name);
  const work = new Set(committing.flatMap((t) => [...findWork(net, t, place)]));
  const unchecked = net.transitions.filter(
    (t) =>
      committed.some((name) => gives(t, name) && !isChecked(t, name)) &&
      [...findWork(net, t, place)].some((name) => work.has(name)),
  );
  for (const t of unchecked) {
    for (const name of findWork(net, t, place)) work.add(name);
    if (t.spec.kind === 'effect') work.add(t.running);
  }
  return [
    {
      place,
      renewals: takers.map(({ name }) => name),
      committed,
      unchecked: unchecked.map(({ name }) => name),
      work: [...work],
      isReadByEffects,
    },
  ];
}

/** The outputs that a transition may leave out. */
function listSkippable(t: CompiledTransition): readonly string[] {
  const alternatives = [...t.alternatives.values()];
  const names = new Set(
    alternatives.flatMap(({ outputs }) => outputs.map(({ place }) => place.name)),
  );
  return [...names].filter((name) =>
    alternatives.some(({ outputs }) => outputs.every(({ place }) => place.name !== name)),
  );
}

/**
 * The places from which tokens come to a transition, up to inputs from outside. Work does not come from a place that is
 * marked initially and has no values, such as a permit, if the transition also takes something else.
 */
function findWork(
  net: CompiledNet,
  t: CompiledTransition,
  generation: string,
): ReadonlySet<string> {
  const found = new Set<string>();
  const transitions = [t];
  for (const one of transitions) {
    const inputs = [
      ...one.takes,
      // What is read may be work too, and what is marked initially is a setting.
      ...one.reads.filter(({ place }) => countInitial(net, place) === 0),
    ].filter(
      ({ place, kind }) => place !== generation && (kind === 'tokens' || kind === 'running'),
    );
    const isOther = ({ place }: { readonly place: string }): boolean =>
      countInitial(net, place) === 0 || hasValues(net, place);
    for (const { place } of inputs.some(isOther) ? inputs.filter(isOther) : inputs) {
      const producers = net.transitions.filter(
        (producer) => gives(producer, place) || producer.running === place,
      );
      if (found.has(place) || (isEnvironment(net, place) && producers.length === 0)) continue;
      found.add(place);
      for (const producer of producers) {
        if (producer.spec.kind === 'effect') found.add(producer.running);
        transitions.push(producer);
      }
    }
  }
  return found;
}

function hasValues(net: CompiledNet, name: string): boolean {
  const place = net.places.get(name);
  return place?.kind === 'tokens' && place.schema !== undefined;
}

function isEnvironment(net: CompiledNet, name: string): boolean {
  const place = net.places.get(name);
  return place?.kind === 'tokens' && place.environment;
}

function countInitial(net: CompiledNet, name: string): number {
  return net.initial
    .filter(({ place }) => place.name === name)
    .reduce((sum, { times }) => sum + times, 0);
}

function gives({ alternatives }: CompiledTransition, name: string): boolean {
  return [...alternatives.values()].some(({ outputs }) =>
    outputs.some(({ place, output }) => place.name === name && output.arc !== 'truncate'),
  );
}

/** True if every alternative puts exactly one token there. */
function alwaysGives({ alternatives }: CompiledTransition, name: string): boolean {
  return [...alternatives.values()].every(
    ({ outputs }) =>
      outputs.filter(({ place, output }) => place.name === name && output.arc === 'one').length ===
      1,
  );
}
