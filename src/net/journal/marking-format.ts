import type { Json } from '../../core/index.ts';
import type { Due, NetVersion, RecordSeq } from './record-parts.ts';

/** The format version of snapshots that this version writes and reads. */
export const SNAPSHOT_FORMAT = 1;

export type TokenRow = readonly [id: string, at: number, value: Json, due?: Due];
export type TokenRows = Readonly<Record<string, readonly TokenRow[]>>;

export interface FiringRow {
  readonly firing: RecordSeq;
  readonly t: string;
  readonly startedAt: number;
  readonly inputs: TokenRows;
  readonly read: TokenRows;
  /** By list place: `[version, length]`, plus the items if the list has a newer version since. */
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

/** A marking as JSON. List items are not copied: they stay in the journal, from record `from` on. */
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

/** A marking as JSON, with the items of its lists. `decodeMarking` restores it without the journal. */
export interface EncodedMarking extends Omit<Snapshot, 'lists'> {
  readonly lists: Readonly<Record<string, EncodedList>>;
}

/** The content of a list place as JSON; `origins` has the record that added each item. */
export interface EncodedList {
  readonly version: number;
  readonly items: readonly Json[];
  readonly origins: readonly RecordSeq[];
}
