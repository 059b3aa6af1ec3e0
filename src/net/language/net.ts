import { arcPlace, listOutputs } from './arcs.ts';
import type { AnyPlace, Place } from './place.ts';
import type { Transition } from './transition.ts';

/**
 * The places of a net that other nets may share. The keys are for access in code, such as `agent.in.message`. Two nets
 * are connected by the names of the places, not by these keys.
 */
export type Ports = Readonly<Record<string, AnyPlace>>;

/** Tokens that a net begins with: `times` tokens of `value` in `place`. */
export interface InitialToken {
  readonly place: AnyPlace;
  readonly value: unknown;
  readonly times: number;
}

/** The transitions of one subnet, drawn together in diagrams. */
export interface Cluster {
  readonly name: string;
  readonly transitions: readonly string[];
  readonly clusters: readonly Cluster[];
}

/** A net of transitions over places. Its ports (`in` and `out`) may be shared with other nets; other places are private. */
export interface Net<In extends Ports = Ports, Out extends Ports = Ports> {
  readonly name: string;
  readonly in: In;
  readonly out: Out;
  readonly transitions: readonly Transition[];
  readonly initial: readonly InitialToken[];
  readonly clusters: readonly Cluster[];
}

/** The argument of `net`. */
export interface NetDefinition<In extends Ports, Out extends Ports> {
  readonly in?: In;
  readonly out?: Out;
  readonly transitions: readonly Transition[];
  readonly initial?: readonly InitialToken[];
}

/** Returns a net as plain data. It does not check anything; `compile` rejects a net that breaks a build rule. */
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

/** Returns the ports, or an empty record if they are undefined. */
export function toPorts<P extends Ports>(ports: P | undefined): P {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- exactly then P is its default, a record without members
  return ports ?? ({} as P);
}

/** Declares that a net begins with `times` tokens of `value` in `place`. Default of `times`: 1. */
export function initialToken<T>(place: Place<T>, value: T, times = 1): InitialToken {
  return { place, value, times };
}

/** Lists the places of all arcs of a transition. A place with several arcs appears several times. */
export function placesTouched(t: Transition): readonly AnyPlace[] {
  return [
    ...Object.values(t.take).map(arcPlace),
    ...Object.values(t.read).map(arcPlace),
    ...t.unless,
    ...t.reset,
    ...listOutputs(t.give).map(({ place }) => place),
  ];
}

/** Lists the places of all transitions, initial tokens and ports of a net, with repetitions. */
export function placesIn(net: Net): readonly AnyPlace[] {
  return [
    ...net.transitions.flatMap(placesTouched),
    ...net.initial.map(({ place }) => place),
    ...portPlaces(net),
  ];
}

/** Lists the places of all ports, `in` before `out`. */
export function portPlaces(net: Net): readonly AnyPlace[] {
  return [...Object.values(net.in), ...Object.values(net.out)];
}
