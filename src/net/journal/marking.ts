import { deepFreeze } from '../../core/json/json.ts';
import type { Json } from '../../core/json/json.ts';
import { faultPlace, unhandledFaultPlace } from '../language/fault.ts';
import { ensureFrozen } from './ensure-frozen.ts';
import { applyListChange, getList } from './list-state.ts';
import type { ListState, ListView } from './list-state.ts';
import { applyMapChange, bumpSharedVersions, isSharedKey, getMap } from './map-state.ts';
import type {
  Deposit,
  Due,
  JournalRecord,
  TokenRemoval,
  NetVersion,
  RecordSeq,
  TokenId,
} from './record.ts';

/** A value at rest in a place. */
export interface Token {
  readonly id: TokenId;
  /** When it arrived, epoch milliseconds. */
  readonly at: number;
  readonly value: Json;
  readonly due?: Due;
}

/** What a firing reads of the net besides its inputs, kept as it was when the firing started. */
export interface PinnedReads {
  readonly tokens: ReadonlyMap<string, readonly Token[]>;
  readonly lists: ReadonlyMap<string, ListView>;
  readonly maps: ReadonlyMap<string, Readonly<Record<string, Json>>>;
  /** Versions of the shared keys in those maps. */
  readonly shared: Readonly<Record<string, number>>;
}

/** An effect between its start and its end. */
export interface Firing {
  /** The number of its `started` record. */
  readonly firing: RecordSeq;
  readonly t: string;
  /** When the firing started, its first attempt with it; epoch milliseconds. */
  readonly startedAt: number;
  readonly inputs: ReadonlyMap<string, readonly Token[]>;
  readonly reads: PinnedReads;
  readonly attempt: number;
  /** How many owners died while it ran. */
  readonly crashes: number;
  /** When the attempt that runs times out, epoch milliseconds. */
  readonly timeoutAt: number;
  /** When its next attempt begins, epoch milliseconds; undefined while one runs. */
  readonly retryAt: number | undefined;
  readonly reason: string | undefined;
}

/**
 * The state of a session's net. Changed by `applyRecord` only, live and at recovery alike.
 * Places without tokens have no entry.
 */
export interface Marking {
  seq: RecordSeq;
  /** The time of the last record, epoch milliseconds. */
  at: number;
  readonly tokens: Map<string, Token[]>;
  readonly firings: Map<RecordSeq, Firing>;
  readonly lists: Map<string, ListState>;
  readonly maps: Map<string, Readonly<Record<string, Json>>>;
  /** Versions of shared keys as last loaded or written. */
  shared: Readonly<Record<string, number>>;
  /** The net these tokens belong to. */
  net: NetVersion;
}

/** The marking before the first record: no tokens, `seq` 0, and no net yet. */
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

/** The tokens at rest in a place, oldest first; none for a place that holds none or is not there. */
export function tokensIn(marking: Marking, place: string): readonly Token[] {
  return marking.tokens.get(place) ?? [];
}

/** The list a list place holds; an empty one of version 0 when nothing was ever put there. */
export function listIn(marking: Marking, place: string): ListState {
  return getList(marking.lists, place);
}

/**
 * The entries a map place holds; none when nothing was ever put there. Later writes do not change what this returns.
 */
export function mapIn(marking: Marking, place: string): Readonly<Record<string, Json>> {
  return getMap(marking.maps, place);
}

/**
 * Changes the marking as the record says. The one meaning of a record: the live net and a recovery both come here.
 * @throws Error when the record does not follow from the marking, which means the journal is damaged.
 */
export function applyRecord(marking: Marking, record: JournalRecord): void {
  if (record.seq !== marking.seq + 1) {
    throw new Error(`Journal record ${record.seq} does not follow record ${marking.seq}.`);
  }
  marking.seq = record.seq;
  marking.at = record.at;
  switch (record.kind) {
    case 'injected':
      if (record.net !== undefined) marking.net = record.net;
      deposit(marking, record, record.give);
      return;
    case 'fired':
      for (const move of record.take ?? []) remove(marking, move);
      for (const move of record.reset ?? []) remove(marking, move);
      for (const firing of record.aborted ?? []) marking.firings.delete(firing);
      give(marking, record);
      return;
    case 'started':
      start(marking, record);
      return;
    case 'ended':
      marking.firings.delete(record.firing);
      give(marking, record);
      return;
    case 'retrying':
      updateFiring(marking, record.firing, { retryAt: record.dueAt, reason: record.reason });
      return;
    case 'restarted': {
      const crashes =
        getFiring(marking, record.firing).crashes + (record.cause === 'crash' ? 1 : 0);
      updateFiring(marking, record.firing, {
        attempt: record.attempt,
        timeoutAt: record.timeoutAt,
        crashes,
        retryAt: undefined,
      });
      return;
    }
    case 'faulted':
      fault(marking, record);
      return;
    case 'upgraded':
      marking.net = record.to;
      if (record.moved !== undefined) movePlaces(marking, record.moved);
      if (record.clocks !== undefined) startClocks(marking, record.clocks);
      deposit(marking, record, record.give ?? []);
      return;
    case 'loaded': {
      const own = Object.entries(mapIn(marking, record.place)).filter(([key]) => !isSharedKey(key));
      const entries = Object.fromEntries([...own, ...Object.entries(record.entries)]);
      marking.maps.set(record.place, deepFreeze(entries));
      marking.shared = record.versions;
      return;
    }
    case 'discarded':
    case 'owned':
      return;
    default:
      record satisfies never;
  }
}

function start(marking: Marking, record: Extract<JournalRecord, { kind: 'started' }>): void {
  // Reads first: what a firing reads may be what it takes or resets elsewhere.
  const reads = pinnedReads(marking, record);
  const inputs = new Map<string, readonly Token[]>();
  for (const move of record.take ?? []) inputs.set(move[0], remove(marking, move));
  for (const move of record.reset ?? []) remove(marking, move);
  for (const firing of record.aborted ?? []) marking.firings.delete(firing);
  marking.firings.set(record.seq, {
    firing: record.seq,
    t: record.t,
    startedAt: record.at,
    inputs,
    reads,
    attempt: 1,
    crashes: 0,
    timeoutAt: record.timeoutAt,
    retryAt: undefined,
    reason: undefined,
  });
}

function pinnedReads(
  marking: Marking,
  { pin }: Extract<JournalRecord, { kind: 'started' }>,
): PinnedReads {
  const tokens = new Map<string, readonly Token[]>();
  for (const [place, ...ids] of pin?.tokens ?? []) {
    tokens.set(
      place,
      tokensIn(marking, place).filter((token) => ids.includes(token.id)),
    );
  }
  const lists = new Map<string, ListView>();
  for (const [place, [version, length]] of Object.entries(pin?.lists ?? {})) {
    lists.set(place, { version, length, items: listIn(marking, place).items });
  }
  return {
    tokens,
    lists,
    maps: new Map((pin?.maps ?? []).map((place) => [place, mapIn(marking, place)])),
    shared: marking.shared,
  };
}

function fault(marking: Marking, record: Extract<JournalRecord, { kind: 'faulted' }>): void {
  const inputs: Record<string, Json[]> = {};
  const addInputs = (place: string, tokens: readonly Token[]): void => {
    inputs[place] = [...(inputs[place] ?? []), ...tokens.map((token) => token.value)];
  };
  for (const move of record.take ?? []) addInputs(move[0], remove(marking, move));
  const firings = record.firing === undefined ? [] : [record.firing];
  for (const firing of [...firings, ...(record.aborted ?? [])]) {
    for (const [place, tokens] of getFiring(marking, firing).inputs) addInputs(place, tokens);
    marking.firings.delete(firing);
  }
  const place = faultPlace.name in inputs ? unhandledFaultPlace : faultPlace;
  deposit(marking, record, [[place.name, { transition: record.t, ...record.error, inputs }]]);
}

function give(marking: Marking, record: Extract<JournalRecord, { kind: 'fired' | 'ended' }>): void {
  if (record.give !== undefined) deposit(marking, record, record.give);
  for (const change of record.lists ?? []) applyListChange(marking.lists, record.seq, change);
  for (const change of record.maps ?? []) {
    applyMapChange(marking.maps, change);
    marking.shared = bumpSharedVersions(marking.shared, change);
  }
}

function deposit(
  marking: Marking,
  record: { readonly seq: RecordSeq; readonly at: number },
  deposits: readonly Deposit[],
): void {
  let index = 0;
  for (const [place, value, more] of deposits) {
    const tokens = marking.tokens.get(place) ?? [];
    ensureFrozen(value);
    for (let n = more?.times ?? 1; n > 0; n--) {
      const token = { id: `${record.seq}.${index++}`, at: record.at, value };
      tokens.push(more?.due === undefined ? token : { ...token, due: more.due });
    }
    marking.tokens.set(place, tokens);
  }
}

/** Takes tokens out of a place, in the order the move names them. Mostly they are the oldest ones. */
function remove(marking: Marking, move: TokenRemoval): readonly Token[] {
  const place = move[0];
  const tokens = marking.tokens.get(place) ?? [];
  const count = move.length - 1;
  let leading = 0;
  while (leading < count && tokens[leading]?.id === move[leading + 1]) leading++;
  if (leading === count && count < tokens.length) return tokens.splice(0, count);
  marking.tokens.delete(place);
  return leading === count ? tokens : removeAnywhere(marking, move, tokens);
}

function removeAnywhere(
  marking: Marking,
  [place, ...ids]: TokenRemoval,
  tokens: readonly Token[],
): readonly Token[] {
  const remaining = new Map(tokens.map((token) => [token.id, token]));
  const removed = ids.map((id) => {
    const token = remaining.get(id);
    if (token !== undefined && remaining.delete(id)) return token;
    throw new Error(
      `Journal record ${marking.seq} takes token ${id} from "${place}", which is not there.`,
    );
  });
  if (remaining.size > 0) marking.tokens.set(place, [...remaining.values()]);
  return removed;
}

/** Renames places wherever the marking speaks of them, or (null) empties them. All at once: two places may swap. */
function movePlaces(marking: Marking, moved: Readonly<Record<string, string | null>>): void {
  const to = (place: string): string => moved[place] ?? place;
  for (const firing of marking.firings.values()) {
    const target = moved[`running(${firing.t})`];
    if (target === null) {
      marking.firings.delete(firing.firing);
      continue;
    }
    const t = target === undefined ? firing.t : target.slice('running('.length, -1);
    const { tokens, lists, maps, shared } = firing.reads;
    const reads = {
      tokens: renameKeys(tokens, to),
      lists: renameKeys(lists, to),
      maps: renameKeys(maps, to),
      shared,
    };
    marking.firings.set(firing.firing, {
      ...firing,
      t,
      inputs: renameKeys(firing.inputs, to),
      reads,
    });
  }
  const places = Object.keys(moved);
  const tokens = places.map((place) => [place, takeOut(marking.tokens, place)] as const);
  const lists = places.map((place) => [place, takeOut(marking.lists, place)] as const);
  const maps = places.map((place) => [place, takeOut(marking.maps, place)] as const);
  for (const [place, held] of tokens) {
    const target = moved[place];
    if (target && held !== undefined)
      marking.tokens.set(target, [...tokensIn(marking, target), ...held]);
  }
  for (const [place, list] of lists) {
    const target = moved[place];
    if (target && list !== undefined) marking.lists.set(target, list);
  }
  for (const [place, map] of maps) {
    const target = moved[place];
    if (target && map !== undefined) marking.maps.set(target, map);
  }
}

function takeOut<T>(map: Map<string, T>, key: string): T | undefined {
  const value = map.get(key);
  map.delete(key);
  return value;
}

function renameKeys<T>(
  map: ReadonlyMap<string, T>,
  to: (place: string) => string,
): ReadonlyMap<string, T> {
  return new Map([...map].map(([place, value]) => [to(place), value]));
}

function startClocks(marking: Marking, clocks: Readonly<Record<TokenId, Due>>): void {
  for (const [place, tokens] of marking.tokens) {
    if (!tokens.some((token) => token.id in clocks)) continue;
    const started = tokens.map((token) =>
      token.id in clocks ? { ...token, due: { ...token.due, ...clocks[token.id] } } : token,
    );
    marking.tokens.set(place, started);
  }
}

function getFiring(marking: Marking, firing: RecordSeq): Firing {
  const found = marking.firings.get(firing);
  if (found === undefined)
    throw new Error(
      `Journal record ${marking.seq} speaks of firing ${firing}, which is not in flight.`,
    );
  return found;
}

function updateFiring(marking: Marking, firing: RecordSeq, to: Partial<Firing>): void {
  marking.firings.set(firing, { ...getFiring(marking, firing), ...to });
}

/** The part of a record that changes list places: enough to make the lists again. */
export function applyToLists(marking: Marking, record: JournalRecord): void {
  if (record.kind === 'upgraded' && record.moved !== undefined) movePlaces(marking, record.moved);
  if (!('lists' in record)) return;
  for (const change of record.lists ?? []) applyListChange(marking.lists, record.seq, change);
}
