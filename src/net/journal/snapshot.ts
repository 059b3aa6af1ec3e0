import { omitUndefined } from '../../core/internal.ts';
import type { Json } from '../../core/index.ts';
import { UNKNOWN_ORIGIN } from './list-state.ts';
import type { ListState, ListView } from './list-state.ts';
import { applyToLists } from './apply-to-lists.ts';
import { emptyMarking } from './marking.ts';
import type { Firing, Marking, Token } from './marking.ts';
import { SNAPSHOT_FORMAT } from './marking-format.ts';
import type { FiringRow, Snapshot, TokenRow, TokenRows } from './marking-format.ts';
import type { JournalRecord, RecordSeq } from './record.ts';
import { restoreAllButLists } from './restore-marking.ts';

/** Returns a marking as JSON. `fromSnapshot` restores it, using the list records of the journal. */
export function toSnapshot(marking: Marking): Snapshot {
  return {
    format: SNAPSHOT_FORMAT,
    net: marking.net,
    seq: marking.seq,
    at: marking.at,
    tokens: toTokenRows(marking.tokens),
    firings: [...marking.firings.values()].map((firing) => toFiringRow(firing, marking)),
    lists: Object.fromEntries(
      [...marking.lists].map(([place, list]) => [
        place,
        {
          version: list.version,
          length: list.items.length,
          from: list.origins.reduce((least, seq) => Math.min(least, seq), marking.seq + 1),
        },
      ]),
    ),
    maps: Object.fromEntries(marking.maps),
    shared: marking.shared,
  };
}

/** Returns the oldest record whose list items a snapshot needs. Undefined if all its lists are empty. */
export function oldestListRecord(snapshot: Snapshot): RecordSeq | undefined {
  const needed = Object.values(snapshot.lists).filter((list) => list.length > 0);
  return needed.length === 0 ? undefined : Math.min(...needed.map((list) => list.from));
}

/**
 * Restores the marking of a snapshot.
 * @param listRecords the journal records that changed a list, from `oldestListRecord` up to the snapshot. Other records
 *   are ignored.
 * @throws Error if the snapshot has another format, or if `listRecords` lacks items of a list.
 */
export function fromSnapshot(snapshot: Snapshot, listRecords: Iterable<JournalRecord>): Marking {
  if (snapshot.format !== SNAPSHOT_FORMAT) {
    throw new Error(
      `This snapshot has format ${snapshot.format}, but this version reads format ${SNAPSHOT_FORMAT}. Use the version that wrote it.`,
    );
  }
  const marking = emptyMarking();
  restoreLists(marking, snapshot, listRecords);
  restoreAllButLists(marking, snapshot);
  return marking;
}

/** Restores each list from the records that changed it. @throws Error if the journal lacks some of its items. */
function restoreLists(
  marking: Marking,
  snapshot: Snapshot,
  records: Iterable<JournalRecord>,
): void {
  const restored = new Map<string, ListState>();
  for (const record of records) if (record.seq <= snapshot.seq) applyToLists(restored, record);
  for (const [place, { version, length }] of Object.entries(snapshot.lists)) {
    const { items = [], origins = [] } = restored.get(place) ?? {};
    const from = Math.max(0, items.length - length);
    const known = origins.slice(from).filter((origin) => origin !== UNKNOWN_ORIGIN).length;
    if (known < length) {
      throw new Error(
        `The journal has only ${known} of the ${length} items of the list "${place}": it is damaged or incomplete.`,
      );
    }
    marking.lists.set(place, { version, items: items.slice(from), origins: origins.slice(from) });
  }
}

function toTokenRows(tokens: ReadonlyMap<string, readonly Token[]>): TokenRows {
  return Object.fromEntries(
    [...tokens].map(([place, held]) => [
      place,
      held.map(({ id, at, value, due }): TokenRow =>
        due === undefined ? [id, at, value] : [id, at, value, due],
      ),
    ]),
  );
}

function toFiringRow(firing: Firing, marking: Marking): FiringRow {
  const { kind: _, id, inputs, reads, retryAt, reason, ...rest } = firing;
  return {
    firing: id,
    ...rest,
    inputs: toTokenRows(inputs),
    read: toTokenRows(reads.tokens),
    lists: Object.fromEntries(
      [...reads.lists].map(([place, view]) => [place, toListRow(view, marking.lists.get(place))]),
    ),
    maps: Object.fromEntries(reads.maps),
    shared: reads.shared,
    ...omitUndefined({ retryAt, reason }),
  };
}

/** A view of the current version needs no items, because they are the first items of the list. */
function toListRow(
  { version, length, items }: ListView,
  now: ListState | undefined,
): readonly [number, number, (readonly Json[])?] {
  return items === now?.items || length === 0
    ? [version, length]
    : [version, length, items.slice(0, length)];
}
