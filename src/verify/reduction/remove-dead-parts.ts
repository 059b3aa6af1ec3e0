import type { ExpandedNet, ExpandedTransition } from '../system/expand.ts';

/**
 * Returns the net without the transitions that never fire, because they take from a place that nothing marks, and
 * without inhibitors on such places. It has exactly the behavior of the net. Places and transitions keep their indexes.
 */
export function removeDeadParts(net: ExpandedNet): ExpandedNet {
  const marked = findMarkable(net);
  const live = (t: ExpandedTransition): boolean => canFire(t, marked);
  const simplify = (t: ExpandedTransition): ExpandedTransition => ({
    ...t,
    unless: t.unless.filter((place) => marked.has(place)),
  });
  const transitions = net.transitions.map(simplify);
  const keep = (group: readonly ExpandedTransition[]): readonly ExpandedTransition[] =>
    group.filter(live).flatMap(({ index }) => transitions[index] ?? []);
  const keepGroups = (
    groups: readonly (readonly ExpandedTransition[])[],
  ): readonly (readonly ExpandedTransition[])[] =>
    groups.map(keep).filter((group) => group.length > 0);
  return {
    ...net,
    transitions,
    byPriority: keepGroups(net.byPriority),
    timed: keep(net.timed),
    timedByPriority: keepGroups(net.timedByPriority),
  };
}

/** Returns the places that may ever hold a token, if inhibitors, counts and keys are ignored. */
function findMarkable(net: ExpandedNet): ReadonlySet<number> {
  const marked = new Set<number>([
    ...net.net.initial.flatMap(({ place }) => net.placeIndex.get(place.name) ?? []),
    ...net.environment.map(({ place }) => place),
    // Any firing may fail, in a net with keys or with a limit on firings even within a bound of no faults.
    ...[net.fault, net.unhandledFault].filter((place) => place >= 0),
  ]);
  for (let before = -1; before < marked.size;) {
    before = marked.size;
    for (const t of net.transitions) {
      if (!canFire(t, marked)) continue;
      if (t.running >= 0) marked.add(t.running);
      for (const { place } of t.alternatives.flatMap(({ outputs }) => outputs))
        if (place >= 0) marked.add(place);
    }
  }
  return marked;
}

/** A firing whose key function throws holds one token of any of its inputs, so one marked keyed input is enough. */
function canFire(t: ExpandedTransition, marked: ReadonlySet<number>): boolean {
  return (
    t.reads.every(({ place, count }) => count === 0 || marked.has(place)) &&
    (t.takes.every(({ place, count }) => count === 0 || marked.has(place)) ||
      t.takes.some(({ place, slot }) => slot >= 0 && marked.has(place)))
  );
}
