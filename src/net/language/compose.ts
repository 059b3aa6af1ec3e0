import { renamePlace, runningPlaceName, scopedName, scopedPlaceName } from './place-identity.ts';
import { mapInputPlace, mapOutputPlace } from './arcs.ts';
import type { Alternatives, OutputSpec, Outputs } from './arcs.ts';
import { faultPlace } from './fault.ts';
import { NetBuildError } from './net-errors.ts';
import { placesIn, portPlaces, toPorts } from './net.ts';
import type { Cluster, InitialToken, Net, Ports } from './net.ts';
import { areCompatible } from './place.ts';
import type { AnyPlace, Place } from './place.ts';
import { renameTransition } from './transition.ts';
import type { Transition } from './transition.ts';

/** Two ports that become one place: `kept` replaces `replaced`. */
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

/** Joins two ports with different names. Joining ports with different token types is a TypeScript error. */
export function join<A extends AnyPlace, B extends AnyPlace>(
  kept: A,
  replaced: B & SameToken<A, B>,
): Joined {
  return { kept, replaced };
}

/** The argument of `compose`. */
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
 * Composes several nets into one. Ports with equal names become one place; `compile` checks that they are compatible.
 * `join` merges ports with different names. A place that is not a port stays private to its net.
 * @throws NetBuildError if a join is impossible, or if a private place of one net is used by another net or by the
 *   composition.
 */
export function compose<
  const In extends Ports = Record<never, never>,
  const Out extends Ports = Record<never, never>,
>(name: string, parts: Composition<In, Out>): Net<In, Out> {
  const joins = parts.join ?? [];
  const own: Net<In, Out> = {
    name,
    in: toPorts(parts.in),
    out: toPorts(parts.out),
    transitions: parts.transitions ?? [],
    initial: parts.initial ?? [],
    clusters: [],
  };
  const nets = parts.nets.map((part) =>
    mapPlaces(part, (place) => resolveJoin(place, part, joins)),
  );
  const problems = [...joinProblems(joins, parts.nets), ...privacyProblems(own, nets)];
  if (problems.length > 0) throw new NetBuildError(name, problems);
  return {
    ...own,
    transitions: [...nets.flatMap((part) => part.transitions), ...own.transitions],
    initial: [...nets.flatMap((part) => part.initial), ...own.initial],
    clusters: nets.map((part) => ({
      name: part.name,
      transitions: part.transitions
        .map((t) => t.name)
        .filter((t) => !part.clusters.some((cluster) => containsTransition(cluster, t))),
      clusters: part.clusters,
    })),
  };
}

function containsTransition(cluster: Cluster, transition: string): boolean {
  return (
    cluster.transitions.includes(transition) ||
    cluster.clusters.some((inner) => containsTransition(inner, transition))
  );
}

/**
 * Returns a copy of a net under another name. Its private places and all its transitions get the prefix `<name>/`, so
 * several instances of one net can be composed. `ports` replaces ports of this instance with other places.
 * @throws NetBuildError if a port is replaced with an incompatible place.
 */
export function instance<In extends Ports, Out extends Ports>(
  name: string,
  net: Net<In, Out>,
  ports: Partial<In & Out> = {},
): Net<In, Out> {
  const own: Ports = { ...net.in, ...net.out };
  const replaced = new Map<string, AnyPlace>();
  const problems: string[] = [];
  for (const [key, place] of Object.entries<AnyPlace | undefined>(ports)) {
    const port = own[key];
    if (port === undefined || place === undefined) continue;
    replaced.set(port.name, place);
    if (!areCompatible(port, place)) problems.push(schemaMismatch(place, port));
  }
  if (problems.length > 0) throw new NetBuildError(name, problems);
  return prefixed(name, net, replaced);
}

function prefixed<In extends Ports, Out extends Ports>(
  name: string,
  net: Net<In, Out>,
  replaced: ReadonlyMap<string, AnyPlace>,
): Net<In, Out> {
  const shared = new Set([faultPlace.name, ...portPlaces(net).map((place) => place.name)]);
  const effects = new Set(net.transitions.map((t) => runningPlaceName(t.name)));
  const scoped = (place: AnyPlace): AnyPlace =>
    renamePlace(place, (own) => scopedPlaceName(name, own));
  const mapped = mapPlaces(net, (place) => {
    if (place.kind === 'running') return effects.has(place.name) ? scoped(place) : place;
    const port = replaced.get(place.name);
    if (port !== undefined) return port;
    return shared.has(place.name) ? place : scoped(place);
  });
  const rename = (cluster: Cluster): Cluster => ({
    name: scopedName(name, cluster.name),
    transitions: cluster.transitions.map((t) => scopedName(name, t)),
    clusters: cluster.clusters.map(rename),
  });
  return {
    ...mapped,
    name,
    transitions: mapped.transitions.map((t) => renameTransition(t, (own) => scopedName(name, own))),
    clusters: mapped.clusters.map(rename),
  };
}

/** Returns the place that replaces `place` in `part`. Only ports are joined. Joins are followed in sequence. */
function resolveJoin(place: AnyPlace, part: Net, joins: readonly Joined[]): AnyPlace {
  if (!isPort(part, place.name)) return place;
  let kept = place;
  for (let steps = 0; steps < joins.length; steps++) {
    const next = joins.find(({ replaced }) => replaced.name === kept.name);
    if (next === undefined) break;
    kept = next.kept;
  }
  return kept;
}

function joinProblems(joins: readonly Joined[], nets: readonly Net[]): readonly string[] {
  return joins.flatMap(({ kept, replaced }, index) => [
    ...(areCompatible(kept, replaced) ? [] : [schemaMismatch(kept, replaced)]),
    ...(nets.some((part) => isPort(part, replaced.name))
      ? []
      : [
          `join: "${replaced.name}" is not a port of ${nets.map((part) => `"${part.name}"`).join(', ')}: add it to the \`in\` or \`out\` of its net`,
        ]),
    ...(joins.findIndex((other) => other.replaced.name === replaced.name) === index
      ? []
      : [`join: "${replaced.name}" is replaced twice: replace it once`]),
    ...(isCyclicJoin(replaced.name, joins)
      ? [`join: "${replaced.name}" is joined with itself through other joins: remove one of them`]
      : []),
  ]);
}

function isCyclicJoin(place: string, joins: readonly Joined[]): boolean {
  let at: string | undefined = place;
  for (let steps = 0; steps < joins.length && at !== undefined; steps++) {
    const from: string = at;
    at = joins.find(({ replaced }) => replaced.name === from)?.kept.name;
    if (at === place) return true;
  }
  return false;
}

function schemaMismatch(kept: AnyPlace, replaced: AnyPlace): string {
  return kept.kind === replaced.kind
    ? `"${kept.name}" and "${replaced.name}" cannot be one place, because they have different schemas: share the schema object, or declare the same { version } for both`
    : `"${kept.name}" and "${replaced.name}" cannot be one place, because one is a ${kept.kind} place and the other a ${replaced.kind} place`;
}

function privacyProblems(own: Net, nets: readonly Net[]): readonly string[] {
  const used = [own, ...nets].map((part) => [part, placeNames(part)] as const);
  return nets.flatMap((holder) =>
    [...placeNames(holder)]
      .filter((place) => place !== faultPlace.name && !isPort(holder, place))
      .flatMap((place) => {
        const other = used.find(([part, names]) => part !== holder && names.has(place))?.[0];
        if (other === undefined) return [];
        const user = other === own ? 'the composition' : `"${other.name}"`;
        return [
          `place "${place}" is private to "${holder.name}" but ${user} also uses it: make it a port of both, or rename one of the places with instance()`,
        ];
      }),
  );
}

function isPort(net: Net, place: string): boolean {
  return portPlaces(net).some((port) => port.name === place);
}

/** Returns the names of all places of a net, except its running places. */
function placeNames(net: Net): ReadonlySet<string> {
  return new Set(
    placesIn(net)
      .filter((place) => place.kind !== 'running')
      .map((place) => place.name),
  );
}

function mapPlaces<N extends Net>(net: N, to: (place: AnyPlace) => AnyPlace): N {
  return {
    ...net,
    in: mapValues(net.in, to),
    out: mapValues(net.out, to),
    transitions: net.transitions.map((t) => ({
      ...t,
      take: mapValues(t.take, (input) => mapInputPlace(input, to)),
      read: mapValues(t.read, (input) => mapInputPlace(input, to)),
      unless: t.unless.map(to),
      reset: t.reset.map(to),
      give: mapGive(t.give, to),
    })),
    initial: net.initial.map((token) => ({ ...token, place: to(token.place) })),
  };
}

function mapGive(give: OutputSpec, to: (place: AnyPlace) => AnyPlace): OutputSpec {
  const outputs = (of: Outputs): Outputs => mapValues(of, (output) => mapOutputPlace(output, to));
  if (give.give === 'allOf') return { give: 'allOf', outputs: outputs(give.outputs) };
  const alternatives: Alternatives = mapValues(give.alternatives, (alternative) =>
    'give' in alternative
      ? { give: 'allOf' as const, outputs: outputs(alternative.outputs) }
      : mapOutputPlace(alternative, to),
  );
  return { give: 'oneOf', alternatives };
}

function mapValues<A, B>(
  values: Readonly<Record<string, A>>,
  to: (value: A) => B,
): Readonly<Record<string, B>> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, to(value)]));
}
