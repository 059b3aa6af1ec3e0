import type { SearchedProperty } from '../properties/property.ts';
import { createMonitor } from '../search/property-monitor.ts';
import { search } from '../search/search.ts';
import type { OnPause, Path } from '../search/search.ts';
import type { ExpandedNet, ExpandedTransition } from '../system/expand.ts';
import { BROKEN_KEY, TokenClasses } from '../system/token-classes.ts';
import { TransitionSystem } from '../system/transition-system.ts';
import { dropKeys } from './drop-keys.ts';
import { propertyCone } from './property-cone.ts';
import { removeDeadParts } from './remove-dead-parts.ts';
import { SaturatedSystem, tokenCaps } from './saturated-system.ts';
import { listTransitions, lostConditions, sliceNet, touches } from './slice-net.ts';
import type { Kept } from './slice-net.ts';
import { splitProperty } from './split-property.ts';

/** Slices with more states together are not worth their search: the whole net is searched. */
const MAX_STATES = 8_000;

/**
 * Searches slices of the net for a violation of a safety property, from the smallest. Returns the number of states if
 * the slices have no violation: then the net has none. Otherwise undefined: a violation of a slice proves nothing.
 */
export async function searchSlices(
  net: ExpandedNet,
  property: SearchedProperty,
  onPause: OnPause,
  maxStates: number = MAX_STATES,
): Promise<{ readonly states: number } | undefined> {
  if (hasBrokenKeys(net)) return undefined;
  const live = removeDeadParts(net);
  let states = 0;
  for (const part of splitProperty(property)) {
    const found = await refineSlices(live, part, onPause, Math.min(maxStates, MAX_STATES));
    if (found === undefined) return undefined;
    states += found;
  }
  return { states };
}

/** True if a key function throws for an initial token: a slice without keys counts on a fault of the bounds. */
function hasBrokenKeys(net: ExpandedNet): boolean {
  const system = new TransitionSystem(net, 'unordered');
  const { tokens } = system.initial();
  return tokens.some((code) => system.tokenClasses.get(code).names.includes(BROKEN_KEY));
}

/** Returns the number of states if a slice has no violation. */
async function refineSlices(
  net: ExpandedNet,
  property: SearchedProperty,
  onPause: OnPause,
  maxStates: number,
): Promise<number | undefined> {
  const kept = propertyCone(net, property);
  if (kept === undefined) return undefined;
  const caps = tokenCaps(net, property);
  let states = 0;
  while (states < maxStates) {
    const slice = dropKeys(kept.places.size === net.places.length ? net : sliceNet(net, kept));
    // Keys without a bound make the states of a slice too large.
    if (slice.keys.domains > 0) return undefined;
    const tokenClasses = new TokenClasses();
    const monitor = createMonitor(net, tokenClasses, property);
    const system = new SaturatedSystem(slice, caps, monitor.outlets, tokenClasses);
    const outcome = await search(
      system,
      [monitor],
      { states: maxStates - states, order: 'newest first' },
      onPause,
    );
    states += outcome.states;
    const [finding] = outcome.findings;
    if (finding?.verdict === 'holds') return states;
    if (finding?.verdict !== 'broken' || !refine(net, property, kept, finding.path))
      return undefined;
  }
  return undefined;
}

/**
 * Adds a place that may prevent this violation in the next slice: one of the lost conditions of its transitions, or
 * else of any transition. Returns false if there is none.
 */
function refine(
  net: ExpandedNet,
  property: SearchedProperty,
  kept: Kept,
  { moves }: Path,
): boolean {
  const all = listTransitions(net);
  // The last transitions are the closest to the violation.
  const onPath = moves.toReversed().flatMap(({ t }) => all.filter(({ index }) => index === t));
  const lost = onPath.map((t) => lostConditions(t, kept));
  const others = all.filter((t) => touches(t, kept)).map((t) => lostConditions(t, kept));
  const fails = moves.some(({ kind }) => kind === 'faulted') && !kept.places.has(net.fault);
  const faults = fails ? [net.fault] : [];
  const candidates = [
    // A property of an order is often kept only because a fault is handled at once.
    ...(property.kind === 'neverFiresAfter' ? [faults] : []),
    lost.flatMap(({ taken }) => taken),
    faults,
    lost.flatMap(({ tested }) => tested),
    others.flatMap(({ taken }) => taken),
    others.flatMap(({ tested }) => tested),
  ];
  const places = candidates.find((list) => list.length > 0) ?? [];
  // A place that is filled only at the expense of kept places bounds how often they are taken from.
  const place = places.find((one) => isFilledFromKept(all, one, kept)) ?? places[0];
  if (place !== undefined) kept.places.add(place);
  return place !== undefined;
}

function isFilledFromKept(
  all: readonly ExpandedTransition[],
  place: number,
  { places }: Kept,
): boolean {
  return all
    .filter(({ alternatives }) =>
      alternatives.some(({ outputs }) => outputs.some((output) => output.place === place)),
    )
    .every(({ takes }) => takes.some((input) => input.count > 0 && places.has(input.place)));
}
