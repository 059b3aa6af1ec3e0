import { allOf, initialToken, many, net, place as newPlace, pure } from '../../net/index.ts';
import type { Net, TokenPlace, Transition } from '../../net/index.ts';
import { faultPlace, unhandledFaultPlace } from '../../net/index.ts';
import { runningPlaceName } from '../../net/internal.ts';
import { PnmlUnsupportedError, shorten } from './pnml-errors.ts';
import type { PnmlLocation } from './pnml-errors.ts';
import type { PlaceTransitionNet, SkeletonTransition, Weights } from './skeleton.ts';

/**
 * The delay of every transition of an imported net. With a delay, each transition that is enabled may be the next one,
 * and none has to be: the search tries every order, and the executor fires one transition at a time. Without a delay,
 * the executor would choose by age and by priority. It is not 0, so that no cycle of firings runs in one settling.
 */
const DELAY_MS = 1;

/** The begin of the names of running places. */
const RUNNING = runningPlaceName('').slice(0, -1);
const RESERVED: ReadonlySet<string> = new Set([
  faultPlace.name,
  unhandledFaultPlace.name,
  '__proto__',
]);

/** Creates a net whose firings are those of a place/transition net, in any order. */
export function toNet(skeleton: PlaceTransitionNet): Net {
  const places = new Map(
    skeleton.places.map(({ name, at }) => {
      assertFreeName(name, at);
      return [name, newPlace(name)];
    }),
  );
  const find = (name: string): TokenPlace<null> => places.get(name) ?? newPlace(name);
  const sources: TokenPlace<null>[] = [];
  const transitions = skeleton.transitions.map((t) => {
    assertCanFire(t);
    if (t.take.size > 0) return toTransition(t, t.take, t.give, find);
    const source = newPlace(sourceName(t.name));
    if (places.has(source.name)) {
      throw new PnmlUnsupportedError(
        `the transition takes no token, and its source place "${shorten(source.name)}" exists already. Rename that place.`,
        t.at,
      );
    }
    sources.push(source);
    const take = new Map([[source.name, 1]]);
    const findSource = (name: string): TokenPlace<null> =>
      name === source.name ? source : find(name);
    return toTransition(t, take, new Map([...t.give, ...take]), findSource);
  });
  return net(skeleton.name, {
    out: Object.fromEntries(places),
    transitions,
    initial: [
      ...skeleton.places.flatMap(({ name, tokens }) =>
        tokens === 0 ? [] : [initialToken(find(name), null, tokens)],
      ),
      ...sources.map((source) => initialToken(source, null)),
    ],
  });
}

/** The place that a transition without inputs takes its one token from, and gives it back to. */
export function sourceName(transition: string): string {
  return `${transition}.source`;
}

function toTransition(
  t: SkeletonTransition,
  take: Weights,
  give: Weights,
  find: (name: string) => TokenPlace<null>,
): Transition {
  const toInputs = (weights: Weights): Record<string, ReturnType<typeof toInput>> =>
    Object.fromEntries([...weights].map(([name, weight]) => [name, toInput(find(name), weight)]));
  // An arc of the weight n becomes n outputs. Their keys are numbers, because a name of a place could equal another key.
  const outputs = [...give]
    .flatMap(([name, weight]) => Array.from({ length: weight }, () => find(name)))
    .map((place, index) => [String(index), place] as const);
  const tokens = Object.fromEntries(outputs.map(([key]) => [key, null]));
  return pure(t.name, {
    take: toInputs(take),
    read: toInputs(t.read),
    unless: [...t.inhibit].map(find),
    reset: [...t.reset].map(find),
    give: allOf(Object.fromEntries(outputs)),
    after: DELAY_MS,
    run: () => tokens,
  });
}

function toInput(
  place: TokenPlace<null>,
  weight: number,
): TokenPlace<null> | ReturnType<typeof many<null>> {
  return weight === 1 ? place : many(weight, place);
}

function assertFreeName(name: string, at: PnmlLocation): void {
  const isReserved = RESERVED.has(name) || name === '' || name.startsWith(RUNNING);
  if (!isReserved) return;
  throw new PnmlUnsupportedError(`the name "${shorten(name)}" is reserved. Rename the place.`, at);
}

/** The net language has no transition that can never fire, and one arc between a place and a transition in each direction. */
function assertCanFire({ take, read, inhibit, at }: SkeletonTransition): void {
  const both = [...read.keys()].find((place) => take.has(place));
  if (both !== undefined) {
    throw new PnmlUnsupportedError(
      `the transition takes from and reads "${shorten(both)}". Keep one of the two arcs.`,
      at,
    );
  }
  const never = [...take.keys(), ...read.keys()].find((place) => inhibit.has(place));
  if (never === undefined) return;
  throw new PnmlUnsupportedError(
    `the transition needs a token in "${shorten(never)}" and needs it to be empty, so it never fires. Remove it.`,
    at,
  );
}
