import { deepFreeze, isSharedKey } from '../../core/internal.ts';
import type { Json } from '../../core/index.ts';
import { faultPlace, unhandledFaultPlace } from '../language/fault.ts';
import { ensureFrozen } from './ensure-frozen.ts';
import { applyToLists } from './apply-to-lists.ts';
import type { ListView } from './list-state.ts';
import { applyMapChange, bumpSharedVersions } from './map-state.ts';
import { listIn, mapIn, tokensIn } from './marking.ts';
import type { Firing, Marking, PinnedReads, Token } from './marking.ts';
import type { CollectedChange, MarkingChange } from './marking-change.ts';
import { movePlaces, startClocks } from './move-places.ts';
import type { Deposit, JournalRecord, RecordSeq, TokenRemoval, Trimmed } from './record.ts';
import { restoreAllButLists } from './restore-marking.ts';

/**
 * Applies a journal record to the marking and returns what it changed. The live net and a recovery both use this
 * function, so a record has one meaning.
 * @throws Error if the record does not follow from the marking, which means that the journal is damaged.
 */
export function applyRecord(marking: Marking, record: JournalRecord): MarkingChange {
  if (!follows(record, marking))
    throw new Error(`Journal record ${record.seq} does not follow record ${marking.seq}.`);
  const change: CollectedChange = {
    places: [],
    clocked: [],
    firings: [],
    isUpgrade: record.kind === 'upgraded' || record.kind === 'trimmed',
  };
  marking.seq = record.seq;
  marking.at = record.at;
  applyToLists(marking.lists, record);
  switch (record.kind) {
    case 'injected':
      if (record.net !== undefined) marking.net = record.net;
      deposit(marking, record, record.give, change);
      break;
    case 'fired':
      for (const move of record.take ?? none) remove(marking, move, change);
      for (const move of record.reset ?? none) remove(marking, move, change);
      for (const firing of record.aborted ?? none) endFiring(marking, firing, 'aborted', change);
      give(marking, record, change);
      break;
    case 'started':
      start(marking, record, change);
      break;
    case 'ended':
      endFiring(marking, record.firing, 'ended', change);
      give(marking, record, change);
      break;
    case 'retrying':
      updateFiring(marking, record.firing, change, () => ({
        retryAt: record.dueAt,
        reason: record.reason,
      }));
      break;
    case 'restarted':
      updateFiring(marking, record.firing, change, ({ crashes }) => ({
        attempt: record.attempt,
        timeoutAt: record.timeoutAt,
        crashes: crashes + (record.cause === 'crash' ? 1 : 0),
        retryAt: undefined,
      }));
      break;
    case 'faulted':
      fault(marking, record, change);
      break;
    case 'upgraded':
      marking.net = record.to;
      if (record.moved !== undefined) movePlaces(marking, record.moved);
      if (record.clocks !== undefined) startClocks(marking, record.clocks);
      deposit(marking, record, record.give ?? none, change);
      break;
    case 'loaded': {
      const own = Object.entries(mapIn(marking, record.place)).filter(([key]) => !isSharedKey(key));
      const entries = Object.fromEntries([...own, ...Object.entries(record.entries)]);
      marking.maps.set(record.place, deepFreeze(entries));
      marking.shared = record.versions;
      break;
    }
    case 'trimmed':
      begin(marking, record);
      break;
    case 'discarded':
    case 'owned':
      break;
    default:
      record satisfies never;
  }
  return change;
}

/** A journal that was trimmed begins with any number. A reader that began before it was trimmed may have earlier records. */
function follows(record: JournalRecord, { seq }: Marking): boolean {
  return record.kind === 'trimmed' ? record.seq > seq : record.seq === seq + 1;
}

/** Replaces the marking. `applyToLists` has replaced its lists. */
function begin(marking: Marking, { seq, at, marking: base }: Trimmed): void {
  if (base.seq !== seq || base.at !== at)
    throw new Error(`Journal record ${seq} holds the marking after another record, ${base.seq}.`);
  marking.tokens.clear();
  marking.firings.clear();
  marking.maps.clear();
  restoreAllButLists(marking, base);
}

const none: readonly never[] = [];

function start(
  marking: Marking,
  record: Extract<JournalRecord, { kind: 'started' }>,
  change: CollectedChange,
): void {
  // Pin the reads before removing tokens: a firing may reset a place that it reads.
  const reads = pinnedReads(marking, record);
  const inputs = new Map<string, readonly Token[]>();
  for (const move of record.take ?? none) inputs.set(move[0], remove(marking, move, change));
  for (const move of record.reset ?? none) remove(marking, move, change);
  for (const aborted of record.aborted ?? none) endFiring(marking, aborted, 'aborted', change);
  const firing: Firing = {
    kind: 'firing',
    id: record.seq,
    t: record.t,
    startedAt: record.at,
    inputs,
    reads,
    attempt: 1,
    crashes: 0,
    timeoutAt: record.timeoutAt,
    retryAt: undefined,
    reason: undefined,
  };
  marking.firings.set(firing.id, firing);
  change.firings.push({ change: 'started', firing });
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

function fault(
  marking: Marking,
  record: Extract<JournalRecord, { kind: 'faulted' }>,
  change: CollectedChange,
): void {
  const inputs: Record<string, Json[]> = {};
  const addInputs = (place: string, tokens: readonly Token[]): void => {
    inputs[place] = [...(inputs[place] ?? []), ...tokens.map((token) => token.value)];
  };
  for (const move of record.take ?? none) addInputs(move[0], remove(marking, move, change));
  const endWithInputs = (id: RecordSeq, how: 'ended' | 'aborted'): void => {
    for (const [place, tokens] of getFiring(marking, id).inputs) addInputs(place, tokens);
    endFiring(marking, id, how, change);
  };
  if (record.firing !== undefined) endWithInputs(record.firing, 'ended');
  for (const id of record.aborted ?? none) endWithInputs(id, 'aborted');
  const place = faultPlace.name in inputs ? unhandledFaultPlace : faultPlace;
  deposit(
    marking,
    record,
    [[place.name, { transition: record.t, ...record.error, inputs }]],
    change,
  );
}

/** Outputs tokens and map writes. `applyToLists` has applied the changes of lists. */
function give(
  marking: Marking,
  record: Extract<JournalRecord, { kind: 'fired' | 'ended' }>,
  change: CollectedChange,
): void {
  deposit(marking, record, record.give ?? none, change);
  for (const writes of record.maps ?? none) {
    applyMapChange(marking.maps, writes);
    marking.shared = bumpSharedVersions(marking.shared, writes);
  }
}

function deposit(
  marking: Marking,
  record: { readonly seq: RecordSeq; readonly at: number },
  deposits: readonly Deposit[],
  change: CollectedChange,
): void {
  let index = 0;
  for (const [place, value, more] of deposits) {
    ensureFrozen(value);
    const { due, times = 1 } = more ?? {};
    for (let n = times; n > 0; n--) {
      const id = `${record.seq}.${index++}`;
      const token: Token = { kind: 'token', id, at: record.at, value, ...(due && { due }) };
      addToken(marking, place, token);
      if (due !== undefined) change.clocked.push({ place, token });
    }
    change.places.push(place);
  }
}

function addToken({ tokens }: Marking, place: string, token: Token): void {
  const present = tokens.get(place);
  // Most places hold one token, and a list that grows from empty reserves room for 16 more.
  if (present === undefined) tokens.set(place, [token]);
  else present.push(token);
}

/** Removes tokens from a place, in the given order. Usually they are the oldest ones, which is the fast path. */
function remove(marking: Marking, move: TokenRemoval, change: CollectedChange): readonly Token[] {
  const place = move[0];
  change.places.push(place);
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

function endFiring(
  marking: Marking,
  id: RecordSeq,
  how: 'ended' | 'aborted',
  change: CollectedChange,
): void {
  const firing = marking.firings.get(id);
  if (firing === undefined) return;
  marking.firings.delete(id);
  change.firings.push({ change: how, firing });
}

function updateFiring(
  marking: Marking,
  id: RecordSeq,
  change: CollectedChange,
  to: (firing: Firing) => Partial<Firing>,
): void {
  const before = getFiring(marking, id);
  const firing = { ...before, ...to(before) };
  marking.firings.set(id, firing);
  change.firings.push({ change: 'updated', firing });
}
