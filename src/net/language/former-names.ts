import { faultPlace, unhandledFaultPlace } from './fault.ts';
import { placesIn } from './net.ts';
import type { Net } from './net.ts';
import { parseRunningPlaceName, runningPlaceName } from './place-identity.ts';

/** The current name of every place and transition of a net that had other names, by former name. */
export interface FormerNames {
  readonly places: ReadonlyMap<string, string>;
  readonly transitions: ReadonlyMap<string, string>;
}

/** Returns the current name of a place, or of a running place. A name that is not a former name stays. */
export function currentPlaceName(former: FormerNames, name: string): string {
  const effect = parseRunningPlaceName(name);
  return effect === undefined
    ? (former.places.get(name) ?? name)
    : runningPlaceName(currentTransitionName(former, effect));
}

/** Returns the current name of a transition. A name that is not a former name stays. */
export function currentTransitionName(former: FormerNames, name: string): string {
  return former.transitions.get(name) ?? name;
}

/** Collects the former names of a net that passed `formerNamesAreFree`. */
export function collectFormerNames(net: Net): FormerNames {
  return { places: byFormerName(listPlaces(net)), transitions: byFormerName(net.transitions) };
}

/** A former name must have one current name, and must not be the name of a place or transition of the net. */
export function formerNamesAreFree(net: Net): readonly string[] {
  return [
    ...listConflicts('place', listPlaces(net)),
    ...listConflicts('transition', net.transitions),
  ];
}

interface Named {
  readonly name: string;
  readonly formerNames: readonly string[];
}

/** The running places have the former names of their effects. */
function listPlaces(net: Net): readonly Named[] {
  return [faultPlace, unhandledFaultPlace, ...placesIn(net)].filter(
    ({ kind }) => kind !== 'running',
  );
}

function byFormerName(named: readonly Named[]): ReadonlyMap<string, string> {
  return new Map(
    named.flatMap(({ name, formerNames }) => formerNames.map((former) => [former, name] as const)),
  );
}

function listConflicts(kind: string, named: readonly Named[]): readonly string[] {
  const current = new Set(named.map(({ name }) => name));
  const owners = new Map<string, string>();
  const problems = new Set<string>();
  for (const { name, formerNames } of named) {
    for (const former of formerNames) {
      const owner = owners.get(former) ?? name;
      owners.set(former, owner);
      if (current.has(former))
        problems.add(
          `${kind} "${name}" has the former name "${former}", which is the name of a ${kind} of this net: rename one`,
        );
      else if (owner !== name)
        problems.add(
          `the ${kind}s "${owner}" and "${name}" have the same former name "${former}": remove it from one`,
        );
    }
  }
  return [...problems];
}
