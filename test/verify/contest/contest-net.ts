/** The weights of arcs, by place. */
export type Arcs = Readonly<Record<string, number>>;

/** A place/transition net in the plainest form. It shares no code with the importer or the prover. */
export interface ContestNet {
  readonly name: string;
  /** The initial marking, by place. */
  readonly places: Arcs;
  readonly transitions: readonly ContestTransition[];
}

export interface ContestTransition {
  readonly name: string;
  readonly take: Arcs;
  readonly give: Arcs;
}

/** Returns the marking that a net begins with, from `[place, tokens]` pairs. */
export function places(...pairs: readonly (readonly [string, number])[]): Arcs {
  return Object.fromEntries(pairs);
}

/** Returns a transition. Each place that is named n times has the weight n. */
export function transition(
  name: string,
  take: readonly string[],
  give: readonly string[],
): ContestTransition {
  return { name, take: count(take), give: count(give) };
}

function count(names: readonly string[]): Arcs {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** Returns the integers from `start` to `end`, both included. */
export function range(start: number, end: number): readonly number[] {
  return Array.from({ length: Math.max(0, end - start + 1) }, (_, index) => start + index);
}

/** Writes a net as a PNML document of the type `ptnet`. Places and transitions have the name as their id. */
export function toPtPnml({ name, places: marking, transitions }: ContestNet): string {
  const elements = [
    ...Object.entries(marking).map(
      ([place, tokens]) =>
        `<place id="${place}"><name><text>${place}</text></name>${tokens === 0 ? '' : `<initialMarking><text>${tokens}</text></initialMarking>`}</place>`,
    ),
    ...transitions.map((t) => `<transition id="${t.name}"/>`),
    ...transitions.flatMap((t) => [
      ...Object.entries(t.take).map(([place, weight]) => arc(place, t.name, weight)),
      ...Object.entries(t.give).map(([place, weight]) => arc(t.name, place, weight)),
    ]),
  ];
  return document(name, 'ptnet', `<page id="page">${elements.join('\n')}</page>`);
}

function arc(source: string, target: string, weight: number): string {
  return `<arc id="${source}-${target}" source="${source}" target="${target}"><inscription><text>${weight}</text></inscription></arc>`;
}

/** Returns a PNML document with one net. */
export function document(name: string, type: string, content: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
<net id="${name}" type="http://www.pnml.org/version-2009/grammar/${type}">${content}</net>
</pnml>`;
}
