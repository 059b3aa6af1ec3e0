import type { CompiledNet } from '../../net/index.ts';
import { findProducers, requirePlace, findConsumers } from './net-queries.ts';
import type { NetTransition } from './net-queries.ts';

/**
 * The names of the places through which a turn is transferred. By default `checkInvariants` uses the stock places.
 */
export interface TransferNames {
  /** The place of transfers that are not routed yet. */
  readonly transfer: string;
  /** The place of transfers to an unknown agent. Default: `target/unknown`. */
  readonly unknown?: string;
}

/**
 * Checks that a transfer never gets lost: every router has an alternative for unknown names, and a transition takes from
 * the place of that alternative.
 * @returns the problems, one sentence each
 * @throws InvalidInputError when the net does not have the transfer place
 */
export function transferHasUnknownFallback(
  net: CompiledNet,
  { transfer, unknown = 'target/unknown' }: TransferNames,
): readonly string[] {
  const from = requirePlace(net, transfer, 'transfer').name;
  // A transition with a count of 0 only drains the place, as when a turn is stopped. It is not a router.
  const routers = findConsumers(net, from).filter((t) =>
    t.takes.some(({ place, count }) => place === from && count > 0),
  );
  const to = net.places.get(unknown);
  const isAnswered = to?.kind === 'outlet' || findConsumers(net, unknown).length > 0;
  return [
    ...(routers.length === 0 && findProducers(net, from).length > 0
      ? [`no transition takes from "${from}": a transfer would wait there forever`]
      : []),
    ...routers
      .filter((t) => !isFallback(t, unknown))
      .map(
        (t) =>
          `"${t.name}" has no alternative for an unknown name: let it give one of its targets or "${unknown}"`,
      ),
    ...(to !== undefined && !isAnswered
      ? [`no transition takes from "${unknown}": transfers to unknown agents would pile up there`]
      : []),
  ];
}

function isFallback(t: NetTransition, unknown: string): boolean {
  const { alternatives, spec } = t;
  return (
    spec.give.give === 'oneOf' &&
    [...alternatives.values()].some(({ outputs }) =>
      outputs.some(({ place, output }) => place.name === unknown && output.arc === 'one'),
    )
  );
}
