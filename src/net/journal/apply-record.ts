import { deepFreeze } from '../../core/internal.ts';
import type { Json } from '../../core/index.ts';
import { faultPlace, unhandledFaultPlace } from '../language/fault.ts';
import { ensureFrozen } from './ensure-frozen.ts';
import { applyListChange } from './list-state.ts';
import type { ListView } from './list-state.ts';
import { applyMapChange, bumpSharedVersions, isSharedKey } from './map-state.ts';
import { listIn, mapIn, tokensIn } from './marking.ts';
import type { Firing, Marking, PinnedReads, Token } from './marking.ts';
import { movePlaces, startClocks } from './move-places.ts';
import type { Deposit, JournalRecord, RecordSeq, TokenRemoval } from './record.ts';

/**
 * Applies a journal record to the marking. The live net and a recovery both use this function, so a record has one
 * meaning.
 * @throws Error if the record does not follow from the marking, which means that the journal is damaged.
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
  // Pin the reads before removing tokens: a firing may reset a place that it reads.
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

/** Removes tokens from a place, in the given order. Usually they are the oldest ones, which is the fast path. */
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

function getFiring(marking: Marking, firing: RecordSeq): Firing {
  const found = marking.firings.get(firing);
  if (found === undefined)
    throw new Error(
      `Journal record ${marking.seq} refers to firing ${firing}, which is not in flight.`,
    );
  return found;
}

function updateFiring(marking: Marking, firing: RecordSeq, to: Partial<Firing>): void {
  marking.firings.set(firing, { ...getFiring(marking, firing), ...to });
}

/** Applies only the part of a record that changes list places, which is enough to restore the lists of a snapshot. */
export function applyToLists(marking: Marking, record: JournalRecord): void {
  if (record.kind === 'upgraded' && record.moved !== undefined) movePlaces(marking, record.moved);
  if (!('lists' in record)) return;
  for (const change of record.lists ?? []) applyListChange(marking.lists, record.seq, change);
}
