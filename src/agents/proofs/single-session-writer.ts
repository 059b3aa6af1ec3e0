import type { CompiledNet } from '../../net/index.ts';
import { sessionWrite, state } from '../vocabulary/state.ts';
import { turnCurrent, turnPermit } from '../vocabulary/turn.ts';
import { findProducers, requirePlace, quoteNames, takes } from './net-queries.ts';
import type { NetTransition } from './net-queries.ts';

/** The names of the places around session state, for a net that does not use the stock places. */
export interface SessionWriterNames {
  /** The map with the session state. Default: `state`. */
  readonly state?: string;
  /** The place of writes that are not applied yet. Default: `state.write`. */
  readonly sessionWrite?: string;
  /**
   * Places that together have one token in the session. A transition that takes it may write state, because no other
   * one can at that time. Default: `turn.current` and `turn.permit`.
   */
  readonly exclusive?: readonly string[];
}

/**
 * Checks that session state has a single writer: one transition applies the waiting writes, and only pure transitions
 * that hold the turn write besides it. An effect must not write, because it would write based on the state at its start.
 * @returns the problems, one sentence each
 * @throws InvalidInputError when the net does not have one of the places
 */
export function singleSessionWriter(
  net: CompiledNet,
  names: SessionWriterNames = {},
): readonly string[] {
  const map = requirePlace(net, names.state ?? state.name, 'state').name;
  const writePlace = requirePlace(
    net,
    names.sessionWrite ?? sessionWrite.name,
    'sessionWrite',
  ).name;
  const exclusive =
    names.exclusive?.map((place) => requirePlace(net, place, 'exclusive').name) ??
    [turnCurrent, turnPermit].map((place) => place.name);
  const writers = findProducers(net, map);
  const holdsTurn = (t: NetTransition): boolean => exclusive.some((place) => takes(t, place));
  const shared = writers.filter((t) => t.spec.kind === 'pure' && !holdsTurn(t));
  // A transition that takes the waiting writes without writing state drops them, as when a turn is stopped.
  const drains = shared.filter((t) => takes(t, writePlace));
  const beside = shared.filter((t) => !takes(t, writePlace));
  return [
    ...(drains.length > 1
      ? [
          `${quoteNames(drains)} all apply the writes in "${writePlace}" and can overtake each other: keep one of them`,
        ]
      : []),
    ...(drains.length === 0 && findProducers(net, writePlace).length > 0
      ? [`no transition applies the writes in "${writePlace}" to "${map}": add one`]
      : []),
    ...writers
      .filter((t) => t.spec.kind === 'effect')
      .map(
        (t) =>
          `effect "${t.name}" writes "${map}" when it ends, based on the state at its start: give "${writePlace}" a token instead`,
      ),
    ...beside.map(
      (t) =>
        `"${t.name}" writes "${map}"${drains.length > 0 ? ` besides ${quoteNames(drains)}` : ''} without holding the turn: give "${writePlace}" a token instead, or take ${exclusive.map((place) => `"${place}"`).join(' or ')}`,
    ),
  ];
}
