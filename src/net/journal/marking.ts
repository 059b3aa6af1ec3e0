import type { Json } from '../../core/index.ts';
import { getList } from './list-state.ts';
import type { ListState, ListView } from './list-state.ts';
import { getMap } from './map-state.ts';
import type { Due, NetVersion, RecordSeq, TokenId } from './record.ts';

/** A value in a place. */
export interface Token {
  readonly kind: 'token';
  readonly id: TokenId;
  /** When it arrived, epoch milliseconds. */
  readonly at: number;
  readonly value: Json;
  /** Its clocks, if timed transitions take from its place. */
  readonly due?: Due;
}

/** The values of a firing's read arcs, as they were when the firing started. */
export interface PinnedReads {
  readonly tokens: ReadonlyMap<string, readonly Token[]>;
  readonly lists: ReadonlyMap<string, ListView>;
  readonly maps: ReadonlyMap<string, Readonly<Record<string, Json>>>;
  /** The versions of the shared keys in `maps`. */
  readonly shared: Readonly<Record<string, number>>;
}

/** A firing of an effect between its start and its end. */
export interface Firing {
  readonly kind: 'firing';
  /** The number of its `started` record. */
  readonly id: RecordSeq;
  /** The name of its transition. */
  readonly t: string;
  /** When its first attempt started, epoch milliseconds. */
  readonly startedAt: number;
  readonly inputs: ReadonlyMap<string, readonly Token[]>;
  readonly reads: PinnedReads;
  readonly attempt: number;
  /** How many owners died during its attempts. */
  readonly crashes: number;
  /** When the current attempt times out, epoch milliseconds. */
  readonly timeoutAt: number;
  /** When the next attempt begins, epoch milliseconds. Undefined while an attempt runs. */
  readonly retryAt: number | undefined;
  /** Why the last attempt failed, if one failed. */
  readonly reason: string | undefined;
}

/**
 * The state of a session's net. Only `applyRecord` changes it, both in the live net and in a recovery. Places without
 * tokens have no entry in `tokens`.
 */
export interface Marking {
  seq: RecordSeq;
  /** The time of the last record, epoch milliseconds. */
  at: number;
  readonly tokens: Map<string, Token[]>;
  readonly firings: Map<RecordSeq, Firing>;
  readonly lists: Map<string, ListState>;
  readonly maps: Map<string, Readonly<Record<string, Json>>>;
  /** The versions of shared keys, as last loaded or written. */
  shared: Readonly<Record<string, number>>;
  /** The version of the net that the tokens belong to. */
  net: NetVersion;
}

/** Returns the marking before the first record: no tokens, `seq` 0, and no net. */
export function emptyMarking(): Marking {
  return {
    seq: 0,
    at: 0,
    tokens: new Map(),
    firings: new Map(),
    lists: new Map(),
    maps: new Map(),
    shared: {},
    net: { hash: '', versions: {} },
  };
}

/**
 * Returns a copy of a marking: records that are applied to one do not change the other. The copies share the values, so
 * a copy costs no more than the number of tokens and list items.
 */
export function copyMarking(marking: Marking): Marking {
  const lists = new Map(
    [...marking.lists].map(([place, { version, items, origins }]) => [
      place,
      { version, items: [...items], origins: [...origins] },
    ]),
  );
  // A view of a list's current version refers to the array of the list, also in the copy.
  const copyView = ([place, view]: readonly [string, ListView]): readonly [string, ListView] => {
    const items = lists.get(place)?.items;
    const isCurrent = items !== undefined && marking.lists.get(place)?.items === view.items;
    return [place, isCurrent ? { ...view, items } : view];
  };
  const copyFiring = (firing: Firing): Firing => ({
    ...firing,
    reads: { ...firing.reads, lists: new Map([...firing.reads.lists].map(copyView)) },
  });
  return {
    ...marking,
    tokens: new Map([...marking.tokens].map(([place, tokens]) => [place, [...tokens]])),
    firings: new Map([...marking.firings].map(([seq, firing]) => [seq, copyFiring(firing)])),
    lists,
    maps: new Map(marking.maps),
  };
}

/** Returns the tokens in a place, oldest first. Empty for an unknown place. */
export function tokensIn(marking: Marking, place: string): readonly Token[] {
  return marking.tokens.get(place) ?? [];
}

/** Returns the list of a list place. If nothing was ever written there, an empty list of version 0. */
export function listIn(marking: Marking, place: string): ListState {
  return getList(marking.lists, place);
}

/**
 * Returns the entries of a map place. Empty if nothing was ever written there. Later writes do not change the returned
 * object.
 */
export function mapIn(marking: Marking, place: string): Readonly<Record<string, Json>> {
  return getMap(marking.maps, place);
}
