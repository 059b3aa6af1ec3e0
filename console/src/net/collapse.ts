import type { DrawnNet } from './story.ts';
import type { MarkingView, RunningEffect } from './token-view.ts';

type Transition = DrawnNet['transitions'][number];
type Arc = Transition['arcs'][number];

/** A subnet that is drawn as one node. */
export interface SubnetBox {
  readonly name: string;
  readonly transitions: readonly string[];
  /** The places that only its transitions touch: they are not drawn. */
  readonly places: readonly string[];
}

/** The names of the subnets that can be drawn as one node: the outermost ones. */
export function listBoxNames({ subnets }: Pick<DrawnNet, 'subnets'>): readonly string[] {
  return [...new Set(subnets.flatMap(({ path }) => path.slice(0, 1)))];
}

/** Replaces the transitions of each chosen subnet by one node, which has the arcs to the places outside. */
export function collapseSubnets(
  net: Omit<DrawnNet, 'boxes'>,
  collapsed: ReadonlySet<string>,
): DrawnNet {
  const homes = new Map<string, string>();
  for (const { path, transitions } of net.subnets) {
    const [name = ''] = path;
    if (collapsed.has(name)) for (const one of transitions) homes.set(one, name);
  }
  const touching = new Map<string, Set<string | undefined>>();
  for (const { name, arcs } of net.transitions)
    for (const { place } of arcs) {
      const found = touching.get(place) ?? new Set();
      touching.set(place, found.add(homes.get(name)));
    }
  const findHome = ({ name, environment }: DrawnNet['places'][number]): string | undefined => {
    const [home, ...others] = touching.get(name) ?? [];
    return environment || others.length > 0 ? undefined : home;
  };
  const members = Map.groupBy(net.transitions, ({ name }) => homes.get(name));
  const inside = Map.groupBy(net.places, findHome);
  const places = inside.get(undefined) ?? [];
  const isOutside = new Set(places.map(({ name }) => name));
  const boxes: SubnetBox[] = [];
  const nodes: Transition[] = [];
  for (const [name, transitions] of members) {
    const [first] = transitions;
    if (name === undefined || first === undefined) continue;
    const arcs = transitions.flatMap((one) => one.arcs).filter(({ place }) => isOutside.has(place));
    nodes.push({ name, kind: 'pure', priority: 0, arcs: mergeArcs(arcs) });
    boxes.push({
      name,
      transitions: transitions.map((one) => one.name),
      places: (inside.get(name) ?? []).map((place) => place.name),
    });
  }
  return { ...net, transitions: [...(members.get(undefined) ?? []), ...nodes], places, boxes };
}

/** One arc of each kind to each place. */
function mergeArcs(arcs: readonly Arc[]): readonly Arc[] {
  return [...Map.groupBy(arcs, ({ kind, place }) => `${kind} ${place}`).values()].flatMap(
    ([first]) => (first === undefined ? [] : [{ kind: first.kind, place: first.place }]),
  );
}

/** A marking as a net with boxes shows it. */
export interface BoxedView {
  readonly running: ReadonlyMap<string, readonly RunningEffect[]>;
  readonly fired: string | undefined;
  /** The number of tokens in each box. */
  readonly tokens: ReadonlyMap<string, number>;
}

/** Adds up what is in each box. */
export function viewBoxes(
  boxes: readonly SubnetBox[],
  { places, running }: MarkingView,
  fired: string | undefined,
): BoxedView {
  const all = new Map(running);
  const tokens = new Map<string, number>();
  let shown = fired;
  for (const { name, transitions, places: inside } of boxes) {
    const effects = transitions.flatMap((one) => running.get(one) ?? []);
    if (effects.length > 0) all.set(name, effects);
    if (fired !== undefined && transitions.includes(fired)) shown = name;
    tokens.set(
      name,
      inside.reduce((sum, place) => sum + (places.get(place)?.count ?? 0), 0),
    );
  }
  return { running: all, fired: shown, tokens };
}
