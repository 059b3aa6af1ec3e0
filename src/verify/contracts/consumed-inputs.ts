import type { ExpandedNet, ExpandedTransition } from '../system/expand.ts';

/**
 * Returns the places of inputs from outside that are empty whenever the net has stopped, judged by the arcs alone: some
 * transition takes a token of the place and needs nothing else, such as one that refuses an input.
 */
export function findConsumedInputs(net: ExpandedNet): ReadonlySet<number> {
  const inputs = net.environment.map(({ place }) => place);
  return new Set(inputs.filter((place) => net.transitions.some((t) => alwaysTakes(t, place))));
}

/** True if the transition can fire in every marking in which this place has a token. */
function alwaysTakes(t: ExpandedTransition, place: number): boolean {
  const [input, ...others] = t.takes;
  return (
    t.kind === 'pure' &&
    t.timed === 'no' &&
    t.alternatives.length > 0 &&
    !t.keyed &&
    t.unless.length === 0 &&
    t.reads.every(({ count }) => count === 0) &&
    others.every(({ count }) => count === 0) &&
    input?.place === place &&
    input.count === 1
  );
}
