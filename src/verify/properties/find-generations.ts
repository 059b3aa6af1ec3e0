import type { CompiledNet } from '../../net/index.ts';
import type { CompiledTransition } from '../../net/internal.ts';

/** A place whose one token is the latest generation, and the commits that it guards. */
export interface Generation {
  readonly place: string;
  /** The transitions that replace its token. */
  readonly renewals: readonly string[];
  /** The places, lists and outlets to which a transition commits only if its work is of the latest generation. */
  readonly committed: readonly string[];
  /** The transitions that fill one of them from the same work, but do not read the generation or cannot skip. */
  readonly unchecked: readonly string[];
  /** The places of the work: from where it begins to the commit. */
  readonly work: readonly string[];
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
  const committed = [...new Set(guarded.flatMap(listSkippable))];
  const work = new Set(guarded.flatMap((t) => [...findWork(net, t, place)]));
  const unchecked = net.transitions.filter(
    (t) =>
      !guarded.includes(t) &&
      !takers.includes(t) &&
      committed.some((name) => gives(t, name)) &&
      [...findWork(net, t, place)].some((name) => work.has(name)),
  );
  if (guarded.length === 0) return [];
  for (const t of unchecked) if (t.spec.kind === 'effect') work.add(t.running);
  return [
    {
      place,
      renewals: takers.map(({ name }) => name),
      committed,
      unchecked: unchecked.map(({ name }) => name),
      work: [...work],
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

/** The places from which tokens come to a transition, up to inputs from outside and places that are marked initially. */
function findWork(
  net: CompiledNet,
  t: CompiledTransition,
  generation: string,
): ReadonlySet<string> {
  const found = new Set<string>();
  const transitions = [t];
  for (const one of transitions) {
    for (const { place, kind } of one.takes) {
      const isBoundary =
        place === generation ||
        found.has(place) ||
        countInitial(net, place) > 0 ||
        (net.places.get(place)?.kind === 'tokens' && isEnvironment(net, place));
      if (isBoundary || (kind !== 'tokens' && kind !== 'running')) continue;
      found.add(place);
      for (const producer of net.transitions) {
        if (!gives(producer, place)) continue;
        if (producer.spec.kind === 'effect') found.add(producer.running);
        transitions.push(producer);
      }
    }
  }
  return found;
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
