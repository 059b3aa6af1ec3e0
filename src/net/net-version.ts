import type { CompiledNet } from './compile.ts';
import type { Marking } from './marking.ts';
import { NetChangedError } from './net-errors.ts';
import type { Upgraded } from './record.ts';

/** Declared versions, by place. */
export function versionsOf(net: CompiledNet): Readonly<Record<string, number>> {
  return Object.fromEntries(
    [...net.places.values()].flatMap((place) =>
      place.version === undefined ? [] : [[place.name, place.version]],
    ),
  );
}

/** What an agent says of a marking whose net changed in a way it does not survive by itself. */
export interface Migration {
  /** Old place (or `running(effect)`) to new, or null to drop its tokens. */
  readonly moved: Readonly<Record<string, string | null>>;
}

export type Migrate = (marked: readonly string[]) => Migration;

/**
 * What lets a marking go on under another net, or undefined when it is the same one.
 * Every marked place must be there, holding the same version; else `migrate` says where its tokens go.
 * @throws NetChangedError naming the places; the marking is as it was.
 */
export function upgradeOf(
  marking: Marking,
  net: CompiledNet,
  migrate?: Migrate,
): Omit<Upgraded, 'seq' | 'at'> | undefined {
  if (marking.net.hash === net.hash) return undefined;
  const to = { hash: net.hash, versions: versionsOf(net) };
  const base = { kind: 'upgraded' as const, from: marking.net.hash, to };
  const lost = markedPlaces(marking).filter((place) => !survives(marking, net, place));
  if (lost.length === 0) return base;
  const moved = migrate?.(lost).moved ?? {};
  const left = lost.filter((place) => {
    const target = moved[place];
    return target !== null && (target === undefined || !exists(net, target));
  });
  if (left.length > 0) throw new NetChangedError(net.name, left);
  return { ...base, moved };
}

/** Every place that holds something, firings in flight and the places they took from included. */
function markedPlaces(marking: Marking): readonly string[] {
  const firings = [...marking.firings.values()];
  return [
    ...new Set([
      ...marking.tokens.keys(),
      ...[...marking.lists].filter(([, list]) => list.items.length > 0).map(([place]) => place),
      ...[...marking.maps]
        .filter(([, entries]) => Object.keys(entries).length > 0)
        .map(([place]) => place),
      ...firings.flatMap((firing) => [`running(${firing.t})`, ...firing.inputs.keys()]),
    ]),
  ];
}

function survives(marking: Marking, net: CompiledNet, place: string): boolean {
  if (!exists(net, place)) return false;
  return (
    place.startsWith('running(') ||
    (net.places.get(place)?.version ?? 0) === (marking.net.versions[place] ?? 0)
  );
}

function exists(net: CompiledNet, place: string): boolean {
  const effect = /^running\((.*)\)$/.exec(place)?.[1];
  return effect === undefined
    ? net.places.has(place)
    : net.byName.get(effect)?.spec.kind === 'effect';
}
