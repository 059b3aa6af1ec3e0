import type { Arcs, ContestNet } from './contest-net.ts';

/** The four numbers that the contest asks for, and whether a marking without successors is reachable. */
export interface StateSpace {
  readonly markings: number;
  /** Pairs of a reachable marking and a transition that is enabled there. */
  readonly arcs: number;
  readonly maxInPlace: number;
  readonly maxInMarking: number;
  readonly hasDeadlock: boolean;
  /** The reachable markings: the marked places with their tokens, in the order of their names. */
  readonly reached: ReadonlySet<string>;
}

/** Explores a place/transition net breadth-first by the textbook rule: one enabled transition fires at a time. */
export function explore({ places, transitions }: ContestNet): StateSpace {
  const names = Object.keys(places).toSorted();
  const index = new Map(names.map((name, at) => [name, at]));
  const toPairs = (arcs: Arcs): readonly (readonly [number, number])[] =>
    Object.entries(arcs).map(([name, weight]) => {
      const at = index.get(name);
      if (at === undefined) throw new RangeError(`no place "${name}"`);
      return [at, weight];
    });
  const rules = transitions.map(({ take, give }) => ({ take: toPairs(take), give: toPairs(give) }));
  const initial = names.map((name) => places[name] ?? 0);
  const seen = new Set([initial.join()]);
  const queue = [initial];
  let [arcs, maxInPlace, maxInMarking, hasDeadlock] = [0, 0, 0, false];
  for (const marking of queue) {
    maxInPlace = Math.max(maxInPlace, ...marking);
    maxInMarking = Math.max(
      maxInMarking,
      marking.reduce((sum, tokens) => sum + tokens, 0),
    );
    let enabled = 0;
    for (const { take, give } of rules) {
      if (!take.every(([at, weight]) => (marking[at] ?? 0) >= weight)) continue;
      enabled++;
      const next = [...marking];
      for (const [at, weight] of take) next[at] = (next[at] ?? 0) - weight;
      for (const [at, weight] of give) next[at] = (next[at] ?? 0) + weight;
      const key = next.join();
      if (seen.has(key)) continue;
      seen.add(key);
      queue.push(next);
    }
    arcs += enabled;
    hasDeadlock ||= enabled === 0;
  }
  const reached = new Set(
    queue.map((marking) =>
      names
        .flatMap((name, at) => ((marking[at] ?? 0) > 0 ? [`${name}=${marking[at]}`] : []))
        .join(';'),
    ),
  );
  return { markings: queue.length, arcs, maxInPlace, maxInMarking, hasDeadlock, reached };
}
