import type { ExpandedNet, ExpandedTransition } from '../system/expand.ts';
import { hasBrokenKey } from '../system/has-broken-key.ts';

/** The places that may ever hold a token and the transitions that may ever fire, judged by the arcs alone. */
export interface LiveParts {
  readonly places: ReadonlySet<number>;
  readonly transitions: ReadonlySet<number>;
}

/** Returns what a net may use within its bounds. The rest can be left out of a proof. */
export function findLiveParts(net: ExpandedNet): LiveParts {
  const places = new Set<number>(net.environment.map(({ place }) => place));
  for (const { place, times } of net.net.initial) {
    const index = net.placeIndex.get(place.name);
    if (index !== undefined && times > 0) places.add(index);
  }
  if (net.faults > 0 || hasBrokenKey(net)) places.add(net.fault).add(net.unhandledFault);
  const transitions = new Set<number>();
  const isLive = ({ takes, reads }: ExpandedTransition): boolean =>
    [...takes, ...reads].every(({ place, count }) => count === 0 || places.has(place));
  for (let before = -1; before !== transitions.size;) {
    before = transitions.size;
    for (const t of net.transitions) {
      if (transitions.has(t.index) || !isLive(t)) continue;
      transitions.add(t.index);
      if (t.running >= 0) places.add(t.running);
      for (const { outputs } of t.alternatives)
        for (const { place, max, each } of outputs)
          if (place >= 0 && (max > 0 || each >= 0)) places.add(place);
    }
  }
  return { places, transitions };
}
