import type { CompiledNet } from '../../net/index.ts';
import { findProducers, requirePlace, findConsumers } from './net-queries.ts';
import type { NetTransition } from './net-queries.ts';

/**
 * How the places are called through which a turn is handed over; `checkInvariants` finds the stock ones unless said.
 */
export interface TransferNames {
  /** Where a transfer waits for the router. */
  readonly transfer: string;
  /** Where a transfer to nobody goes; `target/unknown` unless said. */
  readonly unknown?: string;
}

/**
 * A transfer always arrives: whoever routes it has an alternative for a name that nobody has, and somebody answers
 * there.
 * @returns what is wrong, one sentence each
 * @throws InvalidInputError when the net has no such transfer place
 */
export function transferHasUnknownFallback(
  net: CompiledNet,
  { transfer, unknown = 'target/unknown' }: TransferNames,
): readonly string[] {
  const from = requirePlace(net, transfer, 'transfer').name;
  // Who takes whatever there is, and may find nothing, sweeps: it stops the turn.
  const routers = findConsumers(net, from).filter((t) =>
    t.takes.some(({ place, count }) => place === from && count > 0),
  );
  const to = net.places.get(unknown);
  const isAnswered = to?.kind === 'outlet' || findConsumers(net, unknown).length > 0;
  return [
    ...(routers.length === 0 && findProducers(net, from).length > 0
      ? [`nobody takes from "${from}": a transfer would wait there for ever`]
      : []),
    ...routers
      .filter((t) => !isFallback(t, unknown))
      .map(
        (t) =>
          `"${t.name}" has no way for a name that nobody has: let it give one of its targets or "${unknown}"`,
      ),
    ...(to !== undefined && !isAnswered
      ? [`nobody takes from "${unknown}": transfers to nobody would pile up there`]
      : []),
  ];
}

function isFallback(t: NetTransition, unknown: string): boolean {
  const { alternatives, spec } = t;
  return (
    spec.give.give === 'oneOf' &&
    [...alternatives.values()].some(({ outputs }) =>
      outputs.some(({ place, output }) => place.name === unknown && 'kind' in output),
    )
  );
}
