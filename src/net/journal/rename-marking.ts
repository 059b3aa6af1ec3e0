import type { JsonObject } from '../../core/index.ts';
import { faultPlace, unhandledFaultPlace } from '../language/fault.ts';
import { currentPlaceName, currentTransitionName } from '../language/former-names.ts';
import type { FormerNames } from '../language/former-names.ts';
import { runningPlaceName } from '../language/place-identity.ts';
import type { Marking, Token } from './marking.ts';
import { faultInputs, mapFaults, moveEntries, movePlaces } from './move-places.ts';
import type { Due, NetVersion } from './record.ts';

/** The net whose names a reader uses. A compiled net is one. */
export interface NamedNet {
  readonly hash: string;
  readonly formerNames: FormerNames;
}

/**
 * Gives the places and transitions of a stored marking their current names, if it was written under former names. A
 * marking of the same net, and one without former names, stays as it is.
 */
export function renameMarking(marking: Marking, net: NamedNet): void {
  if (marking.net.hash === net.hash || !hasFormerNames(net)) return;
  const { formerNames } = net;
  const moves = movesToCurrentNames(marking, formerNames);
  movePlaces(marking, moves);
  moveEntries(marking.lists, moves);
  for (const [place, tokens] of marking.tokens)
    if (tokens.some((token) => hasFormerClock(token, formerNames)))
      marking.tokens.set(
        place,
        tokens.map((token) => renameClocks(token, formerNames)),
      );
  const renameTokens = (
    places: ReadonlyMap<string, readonly Token[]>,
  ): ReadonlyMap<string, readonly Token[]> =>
    new Map(
      [...places].map(([place, tokens]) => [
        place,
        tokens.map((token) => renameClocks(token, formerNames)),
      ]),
    );
  for (const firing of marking.firings.values())
    marking.firings.set(firing.id, {
      ...firing,
      inputs: renameTokens(firing.inputs),
      reads: { ...firing.reads, tokens: renameTokens(firing.reads.tokens) },
    });
  mapFaults(marking, (fault) => renameFault(fault, formerNames));
  marking.net = renameVersions(marking.net, formerNames);
}

/** True if the net has places or transitions with former names. */
export function hasFormerNames({ formerNames: { places, transitions } }: NamedNet): boolean {
  return places.size > 0 || transitions.size > 0;
}

/** Returns the current name of each name in the marking that is a former name. */
export function movesToCurrentNames(
  marking: Marking,
  former: FormerNames,
): Readonly<Record<string, string>> {
  const moves: Record<string, string> = {};
  for (const name of listNames(marking)) {
    const current = currentPlaceName(former, name);
    if (current !== name) moves[name] = current;
  }
  return moves;
}

/** Lists every name of a place in a marking, including those in its firings and faults. */
function listNames(marking: Marking): ReadonlySet<string> {
  const firings = [...marking.firings.values()];
  const faults = [faultPlace, unhandledFaultPlace].flatMap(({ name }) => [
    ...(marking.tokens.get(name) ?? []),
    ...firings.flatMap(({ inputs }) => inputs.get(name) ?? []),
  ]);
  return new Set([
    ...marking.tokens.keys(),
    ...marking.lists.keys(),
    ...marking.maps.keys(),
    ...firings.flatMap(({ t, inputs, reads }) => [
      runningPlaceName(t),
      ...inputs.keys(),
      ...reads.tokens.keys(),
      ...reads.lists.keys(),
      ...reads.maps.keys(),
    ]),
    ...faults.flatMap(({ value }) => Object.keys(faultInputs(value))),
  ]);
}

/** Returns a fault with the current names of its transition and of the places of its inputs. */
export function renameFault(fault: JsonObject, former: FormerNames): JsonObject {
  const { transition } = fault;
  return {
    ...fault,
    ...(typeof transition === 'string' && {
      transition: currentTransitionName(former, transition),
    }),
    inputs: renameKeys(faultInputs(fault), (place) => currentPlaceName(former, place)),
  };
}

/** Returns the version of a net with the current names of its places. */
export function renameVersions({ hash, versions }: NetVersion, former: FormerNames): NetVersion {
  return { hash, versions: renameKeys(versions, (place) => currentPlaceName(former, place)) };
}

/** Returns clocks with the current names of their transitions. */
export function renameDue(due: Due, former: FormerNames): Due {
  return renameKeys(due, (t) => currentTransitionName(former, t));
}

/** True if a clock of the token has a former name. */
export function hasFormerClock({ due }: Token, former: FormerNames): boolean {
  return due !== undefined && Object.keys(due).some((t) => former.transitions.has(t));
}

function renameClocks(token: Token, former: FormerNames): Token {
  return token.due === undefined || !hasFormerClock(token, former)
    ? token
    : { ...token, due: renameDue(token.due, former) };
}

/** Renames the keys of a record. */
export function renameKeys<T>(
  record: Readonly<Record<string, T>>,
  to: (key: string) => string,
): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [to(key), value]));
}
