import type { ExpandedNet, ExpandedTransition } from './system/expand.ts';

/** What one step does to the numbers of tokens, as far as the arcs show it. */
interface Step {
  /** By place: the tokens that the step takes for certain. */
  readonly takes: ReadonlyMap<number, number>;
  /** The places that it leaves empty, before it adds tokens. */
  readonly empties: ReadonlySet<number>;
  /** By alternative and place: the most tokens that it adds. */
  readonly gives: readonly ReadonlyMap<number, number>[];
  /** By alternative: places whose tokens, as many as the step takes of the first one, go to the second one. */
  readonly moves: readonly (readonly (readonly [from: number, to: number])[])[];
}

const MOST_PLACES = 5;
const MOST_TRIES = 200;

/**
 * Returns a number of tokens that a place never exceeds, judged by the arcs alone. Undefined if they show none. It looks
 * for places that together never get more tokens than they begin with.
 */
export function boundPlace(
  net: ExpandedNet,
  transitions: readonly ExpandedTransition[],
  place: number,
): number | undefined {
  const steps = [...transitions.flatMap((t) => listSteps(t)), ...listFaults(net)];
  let tries = 0;
  const extend = (places: ReadonlySet<number>): number | undefined => {
    if (places.size > MOST_PLACES || ++tries > MOST_TRIES) return undefined;
    const most = countFirst(net, places);
    const growing = steps.find((step) => mayGrow(step, places, most));
    if (growing === undefined) return most;
    for (const other of growing.takes.keys()) {
      if (places.has(other)) continue;
      const found = extend(new Set([...places, other]));
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return extend(new Set([place]));
}

function listSteps(t: ExpandedTransition): readonly Step[] {
  const takes = new Map<number, number>();
  const empties = new Set(t.resets);
  for (const { place, mode, count, slot } of t.takes) {
    if (count > 0) takes.set(place, count);
    if (mode === 'all' && slot < 0) empties.add(place);
  }
  const gives = t.alternatives.map(({ outputs }) => {
    const given = new Map<number, number>();
    for (const { place, max, each } of outputs) {
      const input = t.takes[each];
      const count = input === undefined ? max : input.mode === 'all' ? 0 : input.count;
      if (count > 0) given.set(place, (given.get(place) ?? 0) + count);
    }
    return given;
  });
  const moves = t.alternatives.map(({ outputs }) =>
    outputs.flatMap(({ place, each }) => {
      const input = t.takes[each];
      return input?.mode === 'all' ? [[input.place, place] as const] : [];
    }),
  );
  if (t.kind === 'pure') return [{ takes, empties, gives, moves }];
  // The tokens that an effect holds are in no place, so its outputs add them.
  return [
    { takes, empties, gives: [new Map([[t.running, 1]])], moves: [[]] },
    { takes: new Map([[t.running, 1]]), empties: new Set(), gives, moves },
  ];
}

/** A firing may become a fault instead, and a key function may throw. */
function listFaults({ fault, unhandledFault }: ExpandedNet): readonly Step[] {
  return [fault, unhandledFault].map((place) => ({
    takes: new Map(),
    empties: new Set(),
    gives: [new Map([[place, 1]])],
    moves: [[]],
  }));
}

function countFirst(
  { net, environment, placeIndex }: ExpandedNet,
  places: ReadonlySet<number>,
): number {
  const first = net.initial.filter(({ place }) => places.has(placeIndex.get(place.name) ?? -1));
  const entering = environment.filter(({ place }) => places.has(place));
  return (
    first.reduce((sum, { times }) => sum + times, 0) +
    entering.reduce((sum, { tokens }) => sum + tokens, 0)
  );
}

/** True if a step may lead from at most `most` tokens in these places to more. */
function mayGrow(step: Step, places: ReadonlySet<number>, most: number): boolean {
  return step.gives.some((gives, alternative) => {
    const moves = (step.moves[alternative] ?? []).filter(([, to]) => places.has(to));
    const given = [...gives].reduce((sum, [to, count]) => sum + (places.has(to) ? count : 0), 0);
    const sources = moves.map(([from]) => from);
    const areMoved =
      sources.every((from) => places.has(from) && step.empties.has(from)) &&
      new Set(sources).size === sources.length;
    if (!areMoved) return true;
    const taken = [...step.takes].reduce(
      (sum, [from, count]) => sum + (places.has(from) && !sources.includes(from) ? count : 0),
      0,
    );
    if (given <= taken) return false;
    return moves.length > 0 || given > most || [...places].some((one) => !step.empties.has(one));
  });
}
