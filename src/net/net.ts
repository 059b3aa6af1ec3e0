import { placeOf } from './arcs.ts';
import type { Alternatives, Give, Input, Output, Outputs } from './arcs.ts';
import { NetBuildError } from './net-errors.ts';
import type { AnyPlace, Place } from './place.ts';
import type { Transition } from './transition.ts';

export type Ports = Readonly<Record<string, AnyPlace>>;

/** A token that is there before anything fires. */
export interface InitialToken {
  readonly place: AnyPlace;
  readonly value: unknown;
  readonly times: number;
}

/** The transitions of one subnet, for diagrams. */
export interface Cluster {
  readonly name: string;
  readonly transitions: readonly string[];
  readonly clusters: readonly Cluster[];
}

/** A net: transitions over places. Its ports are the places others may join; the rest is its own. */
export interface Net<In extends Ports = Ports, Out extends Ports = Ports> {
  readonly name: string;
  readonly in: In;
  readonly out: Out;
  readonly transitions: readonly Transition[];
  readonly initial: readonly InitialToken[];
  readonly clusters: readonly Cluster[];
}

export interface NetDefinition<In extends Ports, Out extends Ports> {
  readonly in?: In;
  readonly out?: Out;
  readonly transitions: readonly Transition[];
  readonly initial?: readonly InitialToken[];
}

export function net<
  const In extends Ports = Record<never, never>,
  const Out extends Ports = Record<never, never>,
>(name: string, definition: NetDefinition<In, Out>): Net<In, Out> {
  return {
    name,
    in: definition.in ?? ({} as In),
    out: definition.out ?? ({} as Out),
    transitions: definition.transitions,
    initial: definition.initial ?? [],
    clusters: [],
  };
}

/** `times` tokens that are in `place` before anything fires. */
export function initially<T>(place: Place<T>, value: T, times = 1): InitialToken {
  return { place, value, times };
}

/** Two ports become one place, the first. */
export interface Joined {
  readonly kept: AnyPlace;
  readonly replaced: AnyPlace;
}

type SameToken<A, B> =
  A extends Place<infer X>
    ? B extends Place<infer Y>
      ? [X] extends [Y]
        ? [Y] extends [X]
          ? unknown
          : never
        : never
      : never
    : never;

/** Joins two ports of different names. Ports with different token types do not compile. */
export function join<A extends AnyPlace, B extends AnyPlace>(
  kept: A,
  replaced: B & SameToken<A, B>,
): Joined {
  return { kept, replaced };
}

export interface Composition<In extends Ports, Out extends Ports> {
  readonly in?: In;
  readonly out?: Out;
  readonly nets: readonly Net[];
  readonly join?: readonly Joined[];
  /** Transitions of the composition itself. */
  readonly transitions?: readonly Transition[];
  readonly initial?: readonly InitialToken[];
}

/**
 * One net out of several. Ports of equal name are one place by themselves (they must hold the same: the build checks);
 * `join` says which others are. Places that are no ports stay private to their net.
 */
export function compose<
  const In extends Ports = Record<never, never>,
  const Out extends Ports = Record<never, never>,
>(name: string, parts: Composition<In, Out>): Net<In, Out> {
  const own = parts.transitions ?? [];
  const joined = new Map((parts.join ?? []).map(({ kept, replaced }) => [replaced.name, kept]));
  const nets = parts.nets.map((part) =>
    mapPlaces(part, (place) => joined.get(place.name) ?? place),
  );
  refuseSharedPrivatePlaces(name, nets);
  return {
    name,
    in: parts.in ?? ({} as In),
    out: parts.out ?? ({} as Out),
    transitions: [...nets.flatMap((part) => part.transitions), ...own],
    initial: [...nets.flatMap((part) => part.initial), ...(parts.initial ?? [])],
    clusters: nets.map((part) => ({
      name: part.name,
      transitions: part.transitions
        .map((t) => t.name)
        .filter((t) => !part.clusters.some((c) => holds(c, t))),
      clusters: part.clusters,
    })),
  };
}

function holds(cluster: Cluster, transition: string): boolean {
  return (
    cluster.transitions.includes(transition) ||
    cluster.clusters.some((inner) => holds(inner, transition))
  );
}

/** The same net under a name of its own: its private places and all its transitions are prefixed `<name>/`, so it can stand beside a twin. */
export function instance<In extends Ports, Out extends Ports>(
  name: string,
  of: Net<In, Out>,
): Net<In, Out> {
  const ports = new Set(
    [...Object.values(of.in), ...Object.values(of.out)].map((place) => place.name),
  );
  const renamed = new Map(
    of.transitions.map((t) => [`running(${t.name})`, `running(${name}/${t.name})`]),
  );
  const prefix = (place: AnyPlace): AnyPlace => {
    if (place.kind === 'running') return { ...place, name: renamed.get(place.name) ?? place.name };
    return ports.has(place.name) ? place : { ...place, name: `${name}/${place.name}` };
  };
  const mapped = mapPlaces(of, prefix);
  const rename = (cluster: Cluster): Cluster => ({
    name: `${name}/${cluster.name}`,
    transitions: cluster.transitions.map((t) => `${name}/${t}`),
    clusters: cluster.clusters.map(rename),
  });
  return {
    ...mapped,
    name,
    transitions: mapped.transitions.map((t) => ({ ...t, name: `${name}/${t.name}` })),
    clusters: mapped.clusters.map(rename),
  };
}

function refuseSharedPrivatePlaces(name: string, nets: readonly Net[]): void {
  const owners = new Map<string, Net[]>();
  for (const part of nets) {
    for (const place of placesOf(part)) owners.set(place, [...(owners.get(place) ?? []), part]);
  }
  const problems = [...owners].flatMap(([place, holders]) =>
    holders.length < 2
      ? []
      : holders
          .filter((holder) => !isPort(holder, place))
          .map(
            (holder) =>
              `place "${place}" is private to "${holder.name}" but "${holders.find((other) => other !== holder)?.name ?? ''}" uses it too: make it a port of both, or give one net another name with instance()`,
          ),
  );
  if (problems.length > 0) throw new NetBuildError(name, problems);
}

function isPort(of: Net, place: string): boolean {
  return [...Object.values(of.in), ...Object.values(of.out)].some((port) => port.name === place);
}

/** The names of all places a net touches; firings in flight are not among them. */
function placesOf(of: Net): ReadonlySet<string> {
  const names = new Set<string>();
  const add = (place: AnyPlace): void => {
    if (place.kind !== 'running') names.add(place.name);
  };
  for (const t of of.transitions) {
    for (const input of [...Object.values(t.take), ...Object.values(t.read)]) add(placeOf(input));
    for (const place of [...t.unless, ...t.reset]) add(place);
    for (const output of outputsOf(t.give)) add(placeOf(output));
  }
  return names;
}

/** Every output a transition may give, over all alternatives. */
export function outputsOf(give: Give): readonly Output[] {
  if (give.give === 'allOf') return Object.values(give.outputs);
  return Object.values(give.alternatives).flatMap((alternative) =>
    'give' in alternative ? Object.values(alternative.outputs) : [alternative],
  );
}

function mapPlaces<In extends Ports, Out extends Ports>(
  of: Net<In, Out>,
  to: (place: AnyPlace) => AnyPlace,
): Net<In, Out> {
  return {
    ...of,
    transitions: of.transitions.map((t) => ({
      ...t,
      take: mapValues(t.take, (input) => mapInput(input, to)),
      read: mapValues(t.read, (input) => mapInput(input, to)),
      unless: t.unless.map(to),
      reset: t.reset.map(to),
      give: mapGive(t.give, to),
    })),
    initial: of.initial.map((token) => ({ ...token, place: to(token.place) })),
  };
}

function mapInput(input: Input, to: (place: AnyPlace) => AnyPlace): Input {
  if ('kind' in input) return to(input);
  if (input.arc !== 'matching') return { ...input, place: to(input.place) };
  const of = input.of;
  return { ...input, of: 'kind' in of ? to(of) : { ...of, place: to(of.place) } };
}

function mapOutput(output: Output, to: (place: AnyPlace) => AnyPlace): Output {
  // The kind of a place does not change when it is replaced: the build refuses a join of different kinds.
  return 'kind' in output ? to(output) : ({ ...output, place: to(placeOf(output)) } as Output);
}

function mapGive(give: Give, to: (place: AnyPlace) => AnyPlace): Give {
  const outputs = (of: Outputs): Outputs => mapValues(of, (output) => mapOutput(output, to));
  if (give.give === 'allOf') return { give: 'allOf', outputs: outputs(give.outputs) };
  const alternatives: Alternatives = mapValues(give.alternatives, (alternative) =>
    'give' in alternative
      ? { give: 'allOf' as const, outputs: outputs(alternative.outputs) }
      : mapOutput(alternative, to),
  );
  return { give: 'oneOf', alternatives };
}

function mapValues<A, B>(
  of: Readonly<Record<string, A>>,
  to: (value: A) => B,
): Readonly<Record<string, B>> {
  return Object.fromEntries(Object.entries(of).map(([key, value]) => [key, to(value)]));
}

/** Every place an arc of this transition touches. */
export function placesTouched(t: Transition): readonly AnyPlace[] {
  return [
    ...Object.values(t.take).map(placeOf),
    ...Object.values(t.read).map(placeOf),
    ...t.unless,
    ...t.reset,
    ...outputsOf(t.give).map(placeOf),
  ];
}
