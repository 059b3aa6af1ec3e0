import { runningPlaceName } from '../net/internal.ts';
import type { CompiledNet } from '../net/index.ts';
import type { CompiledTransition } from '../net/internal.ts';
import type { Bounds } from './properties/bounds.ts';
import {
  bounded,
  deadlockFree,
  noStaleCommits,
  placeBound,
  precedes,
} from './properties/create-property.ts';
import { findGenerations } from './properties/find-generations.ts';
import type { Property } from './properties/property.ts';

/** The properties to prove of a net, and the bounds of the proof. */
export interface NetProof {
  readonly properties: Readonly<Record<string, Property>>;
  readonly bounds: Bounds;
}

/**
 * Returns the default properties of a net, found from its arcs:
 *
 * - `deadlockFree`: the net rests only where it began, or where tokens leave it: in initial places, in places that no
 *   transition takes from, and in `quiescentPlaces`.
 * - `bounded`: no place grows without end.
 * - `once/PLACE`: a place that inhibits every transition which fills it, as a flag does, holds at most one token.
 * - `approved/PLACE`: what a transition releases with an input from outside is never used before.
 * - `noStaleCommits`, if the net has a generation.
 *
 * In the bounds, no transition has a fault and no owner shuts down.
 */
export function netProof(
  net: CompiledNet,
  { quiescentPlaces = [] }: { readonly quiescentPlaces?: readonly string[] } = {},
): NetProof {
  const flags = listTokenPlaces(net).filter((name) => isFlag(net, name));
  return {
    properties: {
      deadlockFree: deadlockFree([...listRestingPlaces(net), ...quiescentPlaces]),
      bounded: bounded(),
      ...Object.fromEntries(flags.map((name) => [`once/${name}`, placeBound(name, 1)])),
      ...Object.fromEntries(listApprovals(net)),
      ...(findGenerations(net).length > 0 && { noStaleCommits: noStaleCommits() }),
    },
    bounds: { faults: 0, shutdowns: false },
  };
}

function listTokenPlaces(net: CompiledNet): readonly string[] {
  return [...net.places.values()].filter(({ kind }) => kind === 'tokens').map(({ name }) => name);
}

function listRestingPlaces(net: CompiledNet): readonly string[] {
  return listTokenPlaces(net).filter(
    (name) => isInitial(net, name) || !net.transitions.some((t) => takesFrom(t, name)),
  );
}

/** True for a place that inhibits every transition which fills it, and that no transition takes from. */
function isFlag(net: CompiledNet, name: string): boolean {
  const producers = net.transitions.filter((t) => gives(t, name));
  return (
    producers.length > 0 &&
    producers.every(({ unless }) => unless.some((place) => place.name === name)) &&
    !net.transitions.some((t) => takesFrom(t, name))
  );
}

/**
 * Finds approvals: a transition takes an input from outside and something that waits, and releases it to a place that
 * only takers of the waiting place fill. What takes from there must follow the approval.
 */
function listApprovals(net: CompiledNet): readonly (readonly [string, Property])[] {
  return net.transitions.flatMap((approval) => {
    const inputs = approval.takes.map(({ place }) => place);
    const waiting = inputs.find(
      (name) => !isEnvironment(net, name) && !isRunning(net, name) && !isInitial(net, name),
    );
    if (waiting === undefined || !inputs.some((name) => isEnvironment(net, name))) return [];
    const released = [...approval.alternatives.values()]
      .flatMap(({ outputs }) => outputs.map(({ place }) => place.name))
      .filter((name) => {
        const producers = net.transitions.filter((t) => gives(t, name));
        return producers.every((t) => takesFrom(t, waiting)) && name !== waiting;
      });
    return released.flatMap((name): (readonly [string, Property])[] => {
      const users = net.transitions.filter((t) => t.spec.kind === 'effect' && takesFrom(t, name));
      if (users.length === 0) return [];
      const names = users.map((t) => t.name);
      return [[`approved/${name}`, precedes(approval.name, names, { each: true })]];
    });
  });
}

function isInitial(net: CompiledNet, name: string): boolean {
  return net.initial.some(({ place }) => place.name === name);
}

function isEnvironment(net: CompiledNet, name: string): boolean {
  const place = net.places.get(name);
  return place?.kind === 'tokens' && place.environment;
}

function isRunning(net: CompiledNet, name: string): boolean {
  return net.transitions.some((t) => runningPlaceName(t.name) === name);
}

function takesFrom({ takes }: CompiledTransition, name: string): boolean {
  return takes.some(({ place }) => place === name);
}

function gives({ alternatives }: CompiledTransition, name: string): boolean {
  return [...alternatives.values()].some(({ outputs }) =>
    outputs.some(({ place }) => place.name === name),
  );
}
