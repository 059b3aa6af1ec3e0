import type { ExpandedInput, ExpandedNet, ExpandedTransition } from '../system/expand.ts';
import type { KeySlots } from '../system/key-slots.ts';
import { createFailing } from './create-failing.ts';
import { listTransitions, matchesAll } from './slice-net.ts';

const noKeys: KeySlots = {
  getDomains: () => [],
  getSlot: () => -1,
  getKeyFunctions: () => [],
  domains: 0,
  hasMultipleKeys: false,
};

/**
 * Returns the net without keys. It has every behavior of the net, and possibly more: tokens that must have equal keys
 * may or may not match, and a key function may throw at any time. A net in which a transition takes all tokens of a key
 * keeps its keys.
 */
export function dropKeys(net: ExpandedNet): ExpandedNet {
  if (net.keys.domains === 0 || listTransitions(net).some(matchesAll)) return net;
  const transitions = net.transitions.map(withoutKeys);
  const change = (list: readonly ExpandedTransition[]): readonly ExpandedTransition[] =>
    list.map((t) => (t.keyed ? withoutKeys(t) : t));
  const throwing = listTransitions(net)
    .flatMap((t) => t.takes.filter(({ slot }) => slot >= 0))
    .map((input, position) => throwingInput(net.transitions.length + 1 + position, input));
  return {
    ...net,
    keys: noKeys,
    places: net.places.map((place) => ({ ...place, domains: [] })),
    transitions,
    byPriority: [throwing, ...net.byPriority.map(change)].filter((group) => group.length > 0),
    timed: change(net.timed),
    timedByPriority: net.timedByPriority.map(change),
  };
}

function withoutKeys(t: ExpandedTransition): ExpandedTransition {
  if (!t.keyed) return t;
  const takes = t.takes.map((input): ExpandedInput => ({ ...input, slot: -1 }));
  return { ...t, isOptional: true, keyed: false, takes };
}

/** Stands for the fault of a transition whose key function throws for a token of this input. */
function throwingInput(index: number, { place }: ExpandedInput): ExpandedTransition {
  return createFailing(index, 'a key function throws', [
    { place, mode: 'one', count: 1, slot: -1 },
  ]);
}
