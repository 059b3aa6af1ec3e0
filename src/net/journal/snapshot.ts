import type { Json } from '../../core/json/json.ts';
import { deepFreeze } from '../../core/json/json.ts';
import { UNKNOWN_ORIGIN } from './list-state.ts';
import type { ListState, ListView } from './list-state.ts';
import { applyToLists, emptyMarking, listIn } from './marking.ts';
import type { Firing, Marking, Token } from './marking.ts';
import type { Due, JournalRecord, NetVersion, RecordSeq } from './record.ts';

/** The format of the snapshots written today. */
const FORMAT = 1;

type TokenRow = readonly [id: string, at: number, value: Json, due?: Due];
type TokenRows = Readonly<Record<string, readonly TokenRow[]>>;

interface FiringRow {
  readonly firing: RecordSeq;
  readonly t: string;
  readonly startedAt: number;
  readonly inputs: TokenRows;
  readonly read: TokenRows;
  /** By list: `[version, length]`, and the items themselves when the list has another version by now. */
  readonly lists: Readonly<
    Record<string, readonly [version: number, length: number, items?: readonly Json[]]>
  >;
  readonly maps: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly shared: Readonly<Record<string, number>>;
  readonly attempt: number;
  readonly crashes: number;
  readonly timeoutAt: number;
  readonly retryAt?: number;
  readonly reason?: string;
}

/** A marking as data. Lists are named, not copied: their items stay in the journal, from record `from` on. */
export interface Snapshot {
  readonly format: number;
  readonly net: NetVersion;
  readonly seq: RecordSeq;
  readonly at: number;
  readonly tokens: TokenRows;
  readonly firings: readonly FiringRow[];
  readonly lists: Readonly<
    Record<string, { readonly version: number; readonly length: number; readonly from: RecordSeq }>
  >;
  readonly maps: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly shared: Readonly<Record<string, number>>;
}

/** A marking as data: with the list records that stay in the journal, `fromSnapshot` makes an equal one of it. */
export function toSnapshot(marking: Marking): Snapshot {
  return {
    format: FORMAT,
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

/** The oldest record whose list items a snapshot still needs; undefined when all its lists are empty. */
export function oldestListRecord(snapshot: Snapshot): RecordSeq | undefined {
  const needed = Object.values(snapshot.lists).filter((list) => list.length > 0);
  return needed.length === 0 ? undefined : Math.min(...needed.map((list) => list.from));
}

/**
 * The marking of a snapshot. Its lists are empty until `listRecords`, the records from `oldestListRecord` up to the
 * snapshot that changed a list, have been given.
 */
export function fromSnapshot(snapshot: Snapshot, listRecords: Iterable<JournalRecord>): Marking {
  if (snapshot.format !== FORMAT) {
    throw new Error(
      `This snapshot has format ${snapshot.format}; this version reads format ${FORMAT}: use the version that wrote it.`,
    );
  }
  const marking = emptyMarking();
  restoreLists(marking, snapshot, listRecords);
  marking.seq = snapshot.seq;
  marking.at = snapshot.at;
  marking.net = snapshot.net;
  marking.shared = snapshot.shared;
  for (const [place, rows] of fromTokenRows(snapshot.tokens)) marking.tokens.set(place, [...rows]);
  for (const [place, entries] of Object.entries(snapshot.maps)) {
    marking.maps.set(place, deepFreeze(entries));
  }
  for (const row of snapshot.firings) marking.firings.set(row.firing, fromFiringRow(row, marking));
  return marking;
}

/** Makes each list again from the records that still matter to it. @throws Error when the journal lacks some. */
function restoreLists(
  marking: Marking,
  snapshot: Snapshot,
  records: Iterable<JournalRecord>,
): void {
  for (const record of records) if (record.seq <= snapshot.seq) applyToLists(marking, record);
  const made = new Map(marking.lists);
  marking.lists.clear();
  for (const [place, { version, length }] of Object.entries(snapshot.lists)) {
    const { items = [], origins = [] } = made.get(place) ?? {};
    const from = Math.max(0, items.length - length);
    const held = origins.slice(from).filter((origin) => origin !== UNKNOWN_ORIGIN).length;
    if (held < length) {
      throw new Error(`The journal holds ${held} of the ${length} items of list "${place}".`);
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

function fromTokenRows(rows: TokenRows): ReadonlyMap<string, readonly Token[]> {
  return new Map(
    Object.entries(rows).map(([place, held]) => [
      place,
      held.map(([id, at, value, due]) => ({
        id,
        at,
        value: deepFreeze(value),
        ...(due !== undefined && { due }),
      })),
    ]),
  );
}

function toFiringRow(firing: Firing, marking: Marking): FiringRow {
  const { inputs, reads, retryAt, reason, ...rest } = firing;
  return {
    ...rest,
    inputs: toTokenRows(inputs),
    read: toTokenRows(reads.tokens),
    lists: Object.fromEntries(
      [...reads.lists].map(([place, view]) => [place, toListRow(view, marking.lists.get(place))]),
    ),
    maps: Object.fromEntries(reads.maps),
    shared: reads.shared,
    ...(retryAt !== undefined && { retryAt }),
    ...(reason !== undefined && { reason }),
  };
}

/** A view of the list as it is needs no items: they are the list's first. */
function toListRow(
  { version, length, items }: ListView,
  now: ListState | undefined,
): readonly [number, number, (readonly Json[])?] {
  return items === now?.items || length === 0
    ? [version, length]
    : [version, length, items.slice(0, length)];
}

function fromFiringRow(row: FiringRow, marking: Marking): Firing {
  const { inputs, read, lists, maps, shared, ...rest } = row;
  return {
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
