import { runningPlaceName } from '../net/internal.ts';
import type { CompiledNet } from '../net/index.ts';
import type { CompiledTransition } from '../net/internal.ts';
import type { Bounds } from './properties/bounds.ts';
import {
  atMostOneCommits,
  bounded,
  deadlockFree,
  joinsComplete,
  noStaleCommits,
  settles,
  precedes,
} from './properties/create-property.ts';
import { findGenerations } from './properties/find-generations.ts';
import { findAbandonedJoins } from './properties/find-joins.ts';
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
 * - `settles`: transitions without effects do not fire for ever.
 * - `bounded`: no place grows without end.
 * - `once/PLACE`: of the transitions that lead to a flag and that it inhibits, only one fires.
 * - `approved/PLACE`: what a transition releases with an input from outside is never used before.
 * - `noStaleCommits`, if the net has a generation that a pure transition reads.
 * - `joinsComplete`, if a transition gives up the wait of a join.
 *
 * In the bounds, no transition has a fault and no owner shuts down.
 */
export function netProof(
  net: CompiledNet,
  { quiescentPlaces = [] }: { readonly quiescentPlaces?: readonly string[] } = {},
): NetProof {
  return {
    properties: {
      deadlockFree: deadlockFree([...listRestingPlaces(net), ...quiescentPlaces]),
      settles: settles(),
      bounded: bounded(),
      ...Object.fromEntries(listFlags(net)),
      ...Object.fromEntries(listApprovals(net)),
      ...(findGenerations(net).some(({ isReadByEffects }) => !isReadByEffects) && {
        noStaleCommits: noStaleCommits(),
      }),
      ...(findAbandonedJoins(net, []).length > 0 && { joinsComplete: joinsComplete() }),
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

/**
 * Finds flags: places that stay marked, and inhibit transitions that lead to them. A transition leads to a flag if it
 * fills it, or if what fills it takes one of its outputs. Only one of these transitions may fire.
 */
function listFlags(net: CompiledNet): readonly (readonly [string, Property])[] {
  return listTokenPlaces(net).flatMap((name): (readonly [string, Property])[] => {
    const producers = net.transitions.filter((t) => gives(t, name));
    const isPermanent = !net.transitions.some(
      (t) => takesFrom(t, name) || t.reset.some((place) => place.name === name),
    );
    const leads = (t: CompiledTransition, producer: CompiledTransition): boolean =>
      t === producer || producer.takes.some(({ place }) => gives(t, place));
    const guarded = net.transitions.filter(
      (t) =>
        t.unless.some((place) => place.name === name) &&
        producers.some((producer) => leads(t, producer)),
    );
    const isOwn = producers.every((producer) => guarded.some((t) => leads(t, producer)));
    if (!isPermanent || !isOwn || guarded.length < 2) return [];
    return [[`once/${name}`, atMostOneCommits(guarded.map((t) => t.name))]];
  });
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
