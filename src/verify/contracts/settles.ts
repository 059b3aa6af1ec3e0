import { UNLIMITED } from '../properties/bounds.ts';
import type { ExpandedNet, ExpandedTransition } from '../system/expand.ts';
import { findLiveParts } from './live-parts.ts';

/**
 * Returns the transitions that might fire without end before the net takes the next event from outside, judged by the
 * arcs alone. Without any, every settling ends.
 *
 * A transition fires finitely often if it takes tokens from a place that only such transitions fill, or if it fills a
 * place that inhibits it and that only such transitions empty.
 */
export function findEndlessTransitions(net: ExpandedNet): readonly string[] {
  const live = findLiveParts(net);
  // A delay ends the settling. A key function that throws does not wait for it, but only faults without limit repeat.
  const firing = net.transitions.filter(
    (t) =>
      live.transitions.has(t.index) && (t.isImmediate || (t.keyed && net.faults === UNLIMITED)),
  );
  let open = firing;
  for (let before = -1; before !== open.length;) {
    before = open.length;
    const endless = open;
    open = endless.filter(
      (t) =>
        !endsByInput(t, endless, net) &&
        // A firing that fails does not fill the place that inhibits it.
        (net.faults === UNLIMITED || !endsByInhibitor(t, endless)),
    );
  }
  return open.map(({ name }) => name);
}

function endsByInput(
  { takes }: ExpandedTransition,
  open: readonly ExpandedTransition[],
  { fault, faults }: ExpandedNet,
): boolean {
  return takes.some(
    ({ place, count }) =>
      count > 0 &&
      !(place === fault && faults === UNLIMITED) &&
      !open.some((other) => fills(other, place)),
  );
}

function endsByInhibitor(t: ExpandedTransition, open: readonly ExpandedTransition[]): boolean {
  return t.unless.some(
    (place) =>
      alwaysFills(t, place) &&
      !t.resets.includes(place) &&
      !open.some((one) => empties(one, place)),
  );
}

/** True if a firing may add a token before the net settles. The results of effects arrive later. */
function fills(t: ExpandedTransition, place: number): boolean {
  if (t.kind === 'effect') return t.running === place;
  return t.alternatives.some(({ outputs }) => outputs.some((output) => output.place === place));
}

function alwaysFills(t: ExpandedTransition, place: number): boolean {
  if (t.kind === 'effect') return t.running === place;
  return t.alternatives.every(({ outputs }) =>
    outputs.some((output) => output.place === place && output.min > 0),
  );
}

function empties({ takes, resets }: ExpandedTransition, place: number): boolean {
  return resets.includes(place) || takes.some((input) => input.place === place);
}
