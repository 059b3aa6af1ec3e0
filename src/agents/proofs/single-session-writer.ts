import type { CompiledNet } from '../../net/index.ts';
import { sessionWrite, state } from '../vocabulary/state.ts';
import { turnCurrent, turnPermit } from '../vocabulary/turn.ts';
import { findProducers, requirePlace, quoteNames, takes } from './net-queries.ts';
import type { NetTransition } from './net-queries.ts';

/** How the places are called around session state, where a net does not use the stock ones. */
export interface SessionWriterNames {
  /** The map that holds session state; `state` unless said. */
  readonly state?: string;
  /** Where writes wait for the writer; `state.write` unless said. */
  readonly sessionWrite?: string;
  /** Places with one token in the whole session: who takes it may write too, nobody else does at that time. `turn.current` and `turn.permit` unless said. */
  readonly exclusive?: readonly string[];
}

/**
 * Session state has one writer: one transition takes the writes that wait, and beside it only a pure transition that
 * holds the turn writes. An effect never does: it would write by what it saw when it started.
 * @returns what is wrong, one sentence each
 * @throws InvalidInputError when the net has no such place
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
  // Who takes the writes that wait and writes nothing drops them: a turn that is stopped does.
  const drains = shared.filter((t) => takes(t, writePlace));
  const beside = shared.filter((t) => !takes(t, writePlace));
  return [
    ...(drains.length > 1
      ? [
          `${quoteNames(drains)} all write what waits in "${writePlace}": they overtake each other, keep one of them`,
        ]
      : []),
    ...(drains.length === 0 && findProducers(net, writePlace).length > 0
      ? [`nobody writes what waits in "${writePlace}": it never reaches "${map}"`]
      : []),
    ...writers
      .filter((t) => t.spec.kind === 'effect')
      .map(
        (t) =>
          `effect "${t.name}" writes "${map}" when it ends, by what it saw when it started: give "${writePlace}" a token instead`,
      ),
    ...beside.map(
      (t) =>
        `"${t.name}" writes "${map}" beside ${quoteNames(drains) || 'nobody'}: give "${writePlace}" a token instead, or take ${exclusive.map((place) => `"${place}"`).join(' or ')}`,
    ),
  ];
}
