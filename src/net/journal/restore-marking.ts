import { deepFreeze, omitUndefined } from '../../core/internal.ts';
import { ensureFrozen } from './ensure-frozen.ts';
import type { ListState } from './list-state.ts';
import { listIn } from './marking.ts';
import type { Firing, Marking, Token } from './marking.ts';
import type { EncodedMarking, FiringRow, Snapshot, TokenRows } from './marking-format.ts';

/** Restores all but the lists, which must be restored before: firings refer to them. */
export function restoreAllButLists(marking: Marking, snapshot: Omit<Snapshot, 'lists'>): void {
  marking.seq = snapshot.seq;
  marking.at = snapshot.at;
  marking.net = snapshot.net;
  marking.shared = snapshot.shared;
  for (const [place, rows] of fromTokenRows(snapshot.tokens)) marking.tokens.set(place, [...rows]);
  for (const [place, entries] of Object.entries(snapshot.maps)) {
    marking.maps.set(place, deepFreeze(entries));
  }
  for (const row of snapshot.firings) marking.firings.set(row.firing, fromFiringRow(row, marking));
}

/** Replaces lists by those of a marking as JSON. */
export function restoreEncodedLists(
  lists: Map<string, ListState>,
  encoded: Pick<EncodedMarking, 'lists'>,
): void {
  lists.clear();
  for (const [place, { version, items, origins }] of Object.entries(encoded.lists))
    lists.set(place, { version, items: items.map(ensureFrozen), origins: [...origins] });
}

function fromTokenRows(rows: TokenRows): ReadonlyMap<string, readonly Token[]> {
  return new Map(
    Object.entries(rows).map(([place, held]) => [
      place,
      held.map(([id, at, value, due]) => ({
        kind: 'token',
        id,
        at,
        value: deepFreeze(value),
        ...omitUndefined({ due }),
      })),
    ]),
  );
}

function fromFiringRow(row: FiringRow, marking: Marking): Firing {
  const { firing, inputs, read, lists, maps, shared, ...rest } = row;
  return {
    kind: 'firing',
    id: firing,
    ...rest,
    inputs: fromTokenRows(inputs),
    reads: {
      tokens: fromTokenRows(read),
      lists: new Map(
        Object.entries(lists).map(([place, [version, length, items]]) => [
          place,
          {
            version,
            length,
            items: items === undefined ? listIn(marking, place).items : deepFreeze(items),
          },
        ]),
      ),
      maps: new Map(Object.entries(maps)),
      shared,
    },
    retryAt: row.retryAt,
    reason: row.reason,
  };
}
