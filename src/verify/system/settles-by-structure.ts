import { UNLIMITED } from '../properties/bounds.ts';
import type { ExpandedNet, ExpandedTransition } from './expand.ts';

/** What a firing in a settling needs and adds. */
interface SettleStep {
  /** The places of which it takes at least one token. */
  readonly needs: readonly number[];
  /** The places to which it may add tokens in the same settling. */
  readonly fills: readonly number[];
}

/**
 * True if the arcs alone show that every settling ends, whatever the tokens and the bounds are. A transition that needs
 * a token of a place that is filled only finitely often fires only finitely often; this is repeated until nothing
 * changes. Within a settling an effect only starts, so it fills only `running(t)`.
 */
export function settlesByStructure(net: ExpandedNet): boolean {
  let endless = net.transitions.flatMap((t) => listSteps(net, t));
  for (;;) {
    const filled = new Set(endless.flatMap(({ fills }) => fills));
    const left = endless.filter(({ needs }) => needs.every((place) => filled.has(place)));
    if (left.length === endless.length) return left.length === 0;
    endless = left;
  }
}

function listSteps(net: ExpandedNet, t: ExpandedTransition): readonly SettleStep[] {
  // A limited number of faults is no endless loop.
  const faults = net.faults === UNLIMITED ? [net.fault, net.unhandledFault] : [];
  const outputs =
    t.kind === 'effect'
      ? [t.running]
      : t.alternatives.flatMap((one) =>
          one.outputs.flatMap(({ place, max }) => (max > 0 ? [place] : [])),
        );
  const needs = t.takes.filter(({ count }) => count > 0).map(({ place }) => place);
  return [
    ...(t.isImmediate ? [{ needs, fills: [...outputs, ...faults] }] : []),
    // A key function that throws is a fault that takes only the token for which it throws.
    ...(faults.length === 0
      ? []
      : t.takes
          .filter(({ slot }) => slot >= 0)
          .map(({ place }) => ({ needs: [place], fills: faults }))),
  ];
}
