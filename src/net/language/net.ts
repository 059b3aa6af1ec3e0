import { arcPlace } from './arcs.ts';
import type { OutputSpec, OutputArc } from './arcs.ts';
import type { AnyPlace, Place } from './place.ts';
import type { Transition } from './transition.ts';

/**
 * The places a net lets others join, by the names under which code speaks of them: `some.in.message`. What joins two
 * is the name of the place.
 */
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

/** A net as plain data. Nothing is checked yet: compiling it refuses a net that breaks a rule. */
export function net<
  const In extends Ports = Record<never, never>,
  const Out extends Ports = Record<never, never>,
>(name: string, definition: NetDefinition<In, Out>): Net<In, Out> {
  return {
    name,
    in: toPorts(definition.in),
    out: toPorts(definition.out),
    transitions: definition.transitions,
    initial: definition.initial ?? [],
    clusters: [],
  };
}

/** No ports, when none are named. */
export function toPorts<P extends Ports>(ports: P | undefined): P {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- exactly then P is its default, a record without members
  return ports ?? ({} as P);
}

/** `times` tokens that are in `place` before anything fires. */
export function initialToken<T>(place: Place<T>, value: T, times = 1): InitialToken {
  return { place, value, times };
}

/** Every output a transition may give, over all alternatives. */
export function listOutputs(give: OutputSpec): readonly OutputArc[] {
  if (give.give === 'allOf') return Object.values(give.outputs);
  return Object.values(give.alternatives).flatMap((alternative) =>
    'give' in alternative ? Object.values(alternative.outputs) : [alternative],
  );
}

/** Every place an arc of this transition touches. */
export function placesTouched(t: Transition): readonly AnyPlace[] {
  return [
    ...Object.values(t.take).map(arcPlace),
    ...Object.values(t.read).map(arcPlace),
    ...t.unless,
    ...t.reset,
    ...listOutputs(t.give).map(arcPlace),
  ];
}

/** Every place a net speaks of, as often as it does. */
export function placesIn(net: Net): readonly AnyPlace[] {
  return [
    ...net.transitions.flatMap(placesTouched),
    ...net.initial.map(({ place }) => place),
    ...portPlaces(net),
  ];
}

export function portPlaces(net: Net): readonly AnyPlace[] {
  return [...Object.values(net.in), ...Object.values(net.out)];
}
