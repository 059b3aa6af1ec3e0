import type { SessionNet } from '../api/types.ts';
import type { SubnetBox } from './collapse.ts';

type Transition = SessionNet['transitions'][number];
type Place = SessionNet['places'][number];
type Arc = Transition['arcs'][number];

/** Which parts of a net are drawn. */
export interface NetParts {
  /** Transitions that stop a turn: interrupts, faults, rewinds. */
  readonly stops: boolean;
  /** Transitions of retries, failures and limits. */
  readonly failures: boolean;
  /** Transitions that pause, close and archive a session. */
  readonly control: boolean;
  /** Places that nearly every transition writes: the log, the conversation, the state. */
  readonly shared: boolean;
  /** Arcs that only look: reads and inhibitors. */
  readonly looks: boolean;
}

/** What the story of a turn needs. */
export const STORY: NetParts = {
  stops: false,
  failures: false,
  control: false,
  shared: false,
  looks: false,
};

/** The part of a net to draw. */
export interface DrawnNet {
  readonly transitions: readonly Transition[];
  readonly places: readonly Place[];
  readonly subnets: SessionNet['subnets'];
  /** How many transitions are left out. */
  readonly hidden: number;
  /** The subnets that are drawn as one node, whose name is that of the subnet. */
  readonly boxes: readonly SubnetBox[];
}

const CONTROL = new Set(['session-control', 'session-events', 'failed-turn-retry']);
const STORED = new Set(['session-writer']);
const FAILURES =
  /(?:^|\/)(?:model\.(?:retry|exhaust|reset-attempts|fail)|tool\.(?:expire|persist)|turn\.conclude)$/;
const SHARED = /(?:^|\/)(?:event\.out|conversation|state|state\.write)$/;
const SESSION_PLACES = /(?:^|\/)session\.[\w-]+$/;

/**
 * Picks the transitions, places and arcs to draw. What happened is never left out: the transitions in `happened` are
 * drawn in any case.
 */
export function pickParts(
  net: SessionNet,
  parts: NetParts,
  happened: ReadonlySet<string> = new Set(),
): DrawnNet {
  const left = findLeftOut(net, parts);
  const chosen = net.transitions.filter(({ name }) => !left.has(name) || happened.has(name));
  const takers = groupTakers(net.transitions);
  const isDrawnTransition = new Set(chosen.map(({ name }) => name));
  // Only transitions that are left out take from such a place, so it would be an end that leads nowhere.
  const leadsOut = (place: string): boolean => {
    const all = takers.get(place) ?? [];
    return all.length > 0 && !all.some((name) => isDrawnTransition.has(name));
  };
  const isHidden = (place: string): boolean =>
    (!parts.shared && SHARED.test(place)) ||
    (!parts.control && SESSION_PLACES.test(place)) ||
    leadsOut(place);
  const isDrawn = ({ kind, place }: Arc): boolean =>
    !isHidden(place) &&
    (parts.looks || (kind !== 'read' && kind !== 'inhibitor')) &&
    (parts.stops || kind !== 'reset');
  const transitions = chosen
    .map((transition) => ({ ...transition, arcs: transition.arcs.filter(isDrawn) }))
    .filter(({ arcs }) => arcs.length > 0);
  const used = new Set(transitions.flatMap(({ arcs }) => arcs.map(({ place }) => place)));
  return {
    transitions,
    places: net.places.filter(({ name }) => used.has(name)),
    subnets: net.subnets,
    hidden: net.transitions.length - transitions.length,
    boxes: [],
  };
}

function findLeftOut(net: SessionNet, parts: NetParts): ReadonlySet<string> {
  const left = new Set<string>();
  for (const { path, transitions } of net.subnets) {
    const name = path.at(-1) ?? '';
    if (!parts.control && CONTROL.has(name)) for (const one of transitions) left.add(one);
    if (!parts.shared && STORED.has(name)) for (const one of transitions) left.add(one);
    // Ending a turn is part of its story, also where one subnet ends and stops it.
    if (!parts.stops && name === 'turn-control')
      for (const one of transitions) if (!one.endsWith('turn.end')) left.add(one);
  }
  if (!parts.failures)
    for (const { name } of net.transitions) if (FAILURES.test(name)) left.add(name);
  return left;
}

/** The transitions that take tokens from each place. */
function groupTakers(transitions: readonly Transition[]): ReadonlyMap<string, readonly string[]> {
  const takers = new Map<string, string[]>();
  for (const { name, arcs } of transitions)
    for (const { kind, place } of arcs)
      if (kind === 'take') takers.set(place, [...(takers.get(place) ?? []), name]);
  return takers;
}

/** One line of the drawing for all arcs between a place and a transition in one direction. */
export interface DrawnEdge {
  readonly id: string;
  readonly place: string;
  readonly transition: string;
  readonly kind: 'take' | 'give' | 'both' | 'read' | 'inhibitor' | 'reset';
  readonly label: string;
}

const RUNNING = /^running\((.+)\)$/;

/** The node of a place: `p:PLACE`. An effect in flight is drawn on its transition: `t:TRANSITION`. */
export function toPlaceNode(place: string): string {
  const running = RUNNING.exec(place)?.[1];
  return running === undefined ? `p:${place}` : `t:${running}`;
}

/** Joins the arcs of each pair of a place and a transition into lines. */
export function toEdges({ transitions }: Pick<DrawnNet, 'transitions'>): readonly DrawnEdge[] {
  const drawn = new Set(transitions.map(({ name }) => name));
  const isDrawn = ({ place }: Arc): boolean => {
    const running = RUNNING.exec(place)?.[1];
    return running === undefined || drawn.has(running);
  };
  return transitions.flatMap((transition) => {
    const byPlace = Map.groupBy(transition.arcs.filter(isDrawn), ({ place }) => place);
    return [...byPlace].flatMap(([place, arcs]) => pairEdges(transition.name, place, arcs));
  });
}

function pairEdges(transition: string, place: string, arcs: readonly Arc[]): readonly DrawnEdge[] {
  const take = arcs.find(({ kind }) => kind === 'take');
  const give = arcs.find(({ kind }) => kind === 'give');
  const edge = (kind: DrawnEdge['kind'], label: string): DrawnEdge => ({
    id: `${kind}:${place}:${transition}`,
    place,
    transition,
    kind,
    label,
  });
  const edges: DrawnEdge[] = [];
  const taken = weightLabel(take);
  if (take !== undefined && give !== undefined && taken === '') edges.push(edge('both', ''));
  else {
    if (take !== undefined) edges.push(edge('take', taken));
    if (give !== undefined) edges.push(edge('give', weightLabel(give)));
  }
  for (const kind of ['read', 'inhibitor', 'reset'] as const)
    if (arcs.some((arc) => arc.kind === kind)) edges.push(edge(kind, ''));
  return edges;
}

function weightLabel(arc: Arc | undefined): string {
  const { min, max } = arc?.weight ?? { min: 1, max: 1 };
  if (min === max) return min === 1 ? '' : String(min);
  if (max === null || max > 64) return `${min}…n`;
  return `${min}…${max}`;
}
