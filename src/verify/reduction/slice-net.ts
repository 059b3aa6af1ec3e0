import { createFailing } from './create-failing.ts';
import { UNLIMITED } from '../properties/bounds.ts';
import type {
  ExpandedInput,
  ExpandedNet,
  ExpandedOutput,
  ExpandedTransition,
} from '../system/expand.ts';

/** What a slice keeps of a net, as indexes of the expanded net. It grows until the slice decides the property. */
export interface Kept {
  readonly places: Set<number>;
  /** Transitions whose firings the property observes, even if they touch no kept place. */
  readonly transitions: ReadonlySet<number>;
  /** The outlets whose tokens the property counts. */
  readonly outlets: ReadonlySet<string>;
}

/**
 * Returns the net without the places that are not kept. Places and transitions keep their indexes. The slice has every
 * behavior of the net, seen at the kept places, and possibly more:
 * - A transition that loses a condition is optional: it may fire, but nothing waits for it.
 * - A transition that touches no kept place is left out. If it may fail, the fault comes from outside.
 *
 * So a safety property that holds of the slice holds of the net. Adds to `kept` the places that a kept arc depends on.
 */
export function sliceNet(net: ExpandedNet, kept: Kept): ExpandedNet {
  closeOver(net, kept);
  const { places } = kept;
  const transitions = net.transitions.map((t) => sliceTransition(t, places));
  const sliced = ({ index }: ExpandedTransition): ExpandedTransition =>
    transitions[index] ?? lost(index);
  const isKept = (t: ExpandedTransition): boolean => touches(t, kept);
  const arriving = listTransitions(net).filter((t) => isKept(t) && onlyGives(t, kept));
  const keepTransitions = (
    groups: readonly (readonly ExpandedTransition[])[],
  ): readonly (readonly ExpandedTransition[])[] =>
    groups
      .map((group) => group.flatMap((t) => (isKept(t) && !arriving.includes(t) ? sliced(t) : [])))
      .filter((group) => group.length > 0);
  const byPriority = keepTransitions(net.byPriority);
  const timedByPriority = keepTransitions(net.timedByPriority);
  const failsOutside = net.faults > 0 && places.has(net.fault);
  const failing = createFailing(net.transitions.length, 'something outside of the slice', []);
  return {
    ...net,
    net: {
      ...net.net,
      initial: net.net.initial.filter(({ place }) =>
        places.has(net.placeIndex.get(place.name) ?? -1),
      ),
    },
    transitions,
    byPriority: failsOutside ? [[failing], ...byPriority] : byPriority,
    timed: timedByPriority.flat(),
    timedByPriority,
    arriving: arriving.map(sliced),
    fault: places.has(net.fault) ? net.fault : -1,
    unhandledFault: places.has(net.unhandledFault) ? net.unhandledFault : -1,
    environment: [
      ...net.environment.filter(({ place }) => places.has(place)),
      ...(failsOutside ? [{ place: net.fault, tokens: Math.min(net.faults, UNLIMITED - 1) }] : []),
    ],
  };
}

/** Lists the places that a transition of a slice needs not have a token in: those it takes from, and those it tests. */
export function lostConditions(
  t: ExpandedTransition,
  { places }: Kept,
): { readonly taken: readonly number[]; readonly tested: readonly number[] } {
  const isLost = (place: number): boolean => !places.has(place);
  const needed = t.takes.filter(isCondition).map(({ place }) => place);
  const read = t.reads.filter(({ count }) => count > 0).map(({ place }) => place);
  return { taken: needed.filter(isLost), tested: [...t.unless, ...read].filter(isLost) };
}

/** True for an effect of which only the results are seen. They arrive at any time, as if from outside. */
function onlyGives(t: ExpandedTransition, { places, transitions }: Kept): boolean {
  return (
    t.running >= 0 &&
    !places.has(t.running) &&
    !transitions.has(t.index) &&
    !t.takes.some(({ place }) => places.has(place)) &&
    !t.resets.some((place) => places.has(place))
  );
}

/** True if the transition takes all tokens of a key. */
export function matchesAll({ takes }: ExpandedTransition): boolean {
  return takes.some(isKeyedAll);
}

function isKeyedAll({ mode, slot }: ExpandedInput): boolean {
  return mode === 'all' && slot >= 0;
}

/** Lists the transitions that are not left out of this net. */
export function listTransitions({ byPriority, timed }: ExpandedNet): readonly ExpandedTransition[] {
  return [...byPriority.flat(), ...timed];
}

/** True if a firing of this transition can change a kept place, or if the property names it. */
export function touches(t: ExpandedTransition, kept: Kept): boolean {
  const { places, transitions } = kept;
  return (
    transitions.has(t.index) ||
    t.takes.some(({ place }) => places.has(place)) ||
    t.resets.some((place) => places.has(place)) ||
    running(t).some((place) => places.has(place)) ||
    t.alternatives.some(({ outputs }) => outputs.some((output) => isSeen(output, kept)))
  );
}

function isSeen({ place, name }: ExpandedOutput, { places, outlets }: Kept): boolean {
  return place < 0 ? outlets.has(name) : places.has(place);
}

/** Adds the places without which the firings of a kept transition would have no meaning. */
function closeOver(net: ExpandedNet, kept: Kept): void {
  const { places } = kept;
  // A firing that holds a fault and fails is a fault that nothing handles.
  if (places.has(net.unhandledFault)) places.add(net.fault);
  for (let before = -1; before < places.size;) {
    before = places.size;
    for (const t of listTransitions(net)) {
      if (!touches(t, kept)) continue;
      if (!onlyGives(t, kept)) for (const place of running(t)) places.add(place);
      const [first] = t.takes;
      // The tokens that `all` takes are those with the key of the other inputs.
      if (t.takes.some((input) => isKeyedAll(input) && places.has(input.place)))
        for (const { place, slot } of t.takes) if (slot >= 0) places.add(place);
      // The clock of a timed transition belongs to its first input.
      if (t.timed !== 'no' && first !== undefined) places.add(first.place);
      for (const output of t.alternatives.flatMap(({ outputs }) => outputs)) {
        const counted = t.takes[output.each];
        if (counted !== undefined && isSeen(output, kept)) places.add(counted.place);
      }
    }
  }
}

function sliceTransition(t: ExpandedTransition, places: ReadonlySet<number>): ExpandedTransition {
  const isKept = ({ place }: { readonly place: number }): boolean => places.has(place);
  const takes = t.takes.filter(isKept);
  const reads = t.reads.filter(isKept);
  const unless = t.unless.filter((place) => places.has(place));
  const isOptional =
    t.takes.some((input) => !isKept(input) && isCondition(input)) ||
    t.reads.some((read) => !isKept(read) && read.count > 0) ||
    unless.length < t.unless.length;
  const toIndex = (input: number): number => {
    const before = t.takes[input];
    return before === undefined ? -1 : takes.indexOf(before);
  };
  return {
    ...t,
    isOptional,
    takes,
    reads,
    unless,
    resets: t.resets.filter((place) => places.has(place)),
    keyed: takes.some(({ slot }) => slot >= 0),
    // No property sees the attempts of a firing. A firing that waits for a retry may end no earlier than one that runs.
    attempts: 1,
    remembered: t.remembered.map(toIndex),
    alternatives: t.alternatives.map(({ name, outputs }) => ({
      name,
      outputs: outputs
        .filter(({ place }) => place < 0 || places.has(place))
        .map((output) => ({ ...output, each: toIndex(output.each) })),
    })),
  };
}

/** False for an input that takes what is there, if anything. Its key can fault, but then nothing else happens. */
function isCondition({ mode, count }: ExpandedInput): boolean {
  return mode !== 'all' || count > 0;
}

function running(t: ExpandedTransition): readonly number[] {
  return t.running < 0 ? [] : [t.running];
}

function lost(index: number): never {
  throw new RangeError(`the expanded net has no transition ${index}`);
}
