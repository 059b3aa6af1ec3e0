import { listWrittenKeys, omitUndefined } from '../../core/internal.ts';
import type { Json } from '../../core/index.ts';
import { applyRecord, faultPlace, listIn, tokensIn, unhandledFaultPlace } from '../../net/index.ts';
import type { JournalRecord, MapChange, Marking, Token } from '../../net/index.ts';
import type { ListChange, TokenRemoval } from '../../net/internal.ts';
import type { StepNumber } from '../../store/index.ts';
import type {
  InspectedListChange,
  InspectedMapChange,
  InspectedRecord,
  InspectedToken,
  InspectedTokens,
} from './inspected-record.ts';
import { showValue, type ValueDetail } from './value-detail.ts';

/**
 * Applies a record to the marking before it, and describes what it did.
 * @throws Error if the record does not follow from the marking, which means that the journal is damaged.
 */
export function inspectRecord(
  marking: Marking,
  record: JournalRecord,
  step: StepNumber,
  detail: ValueDetail,
): InspectedRecord {
  // Removed tokens can only be read before the record removes them.
  const taken = 'take' in record ? removedTokens(marking, record.take, detail) : [];
  const reset = 'reset' in record ? removedTokens(marking, record.reset, detail) : [];
  applyRecord(marking, record);
  const lists = 'lists' in record ? (record.lists ?? []) : [];
  const maps = listMapChanges(record);
  return {
    record: record.seq,
    step,
    at: record.at,
    kind: record.kind,
    ...firingDetails(record, detail),
    taken,
    ...(reset.length > 0 && { reset }),
    given: givenTokens(marking, record, detail),
    ...(lists.length > 0 && { lists: lists.map((change) => showList(marking, change, detail)) }),
    ...(maps.length > 0 && { maps: maps.map((change) => showMap(change, detail)) }),
    ...(detail === 'full' && { stored: record }),
  };
}

type Details = Omit<InspectedRecord, 'record' | 'step' | 'at' | 'kind' | 'taken' | 'given'>;

function firingDetails(record: JournalRecord, detail: ValueDetail): Details {
  const show = (reason: string | undefined): { readonly reason?: string } =>
    reason === undefined || detail !== 'full' ? {} : { reason };
  switch (record.kind) {
    case 'injected':
      return omitUndefined({ netHash: record.net?.hash });
    case 'fired':
      return { transition: record.t, firing: record.seq, ...showAborted(record.aborted) };
    case 'started': {
      const { t, seq, timeoutAt, aborted } = record;
      return { transition: t, firing: seq, timeoutAt, ...showAborted(aborted) };
    }
    case 'ended': {
      const { t, firing, outcome, reason } = record;
      return { transition: t, firing, outcome, ...show(reason) };
    }
    case 'retrying': {
      const { t, firing, dueAt, reason } = record;
      return { transition: t, firing, dueAt, ...show(reason) };
    }
    case 'restarted': {
      const { t, firing, attempt, cause, timeoutAt } = record;
      return { transition: t, firing, attempt, cause, timeoutAt };
    }
    case 'faulted': {
      const { t, firing = record.seq, error, aborted } = record;
      const errorCode = error.code;
      return { transition: t, firing, errorCode, ...show(error.message), ...showAborted(aborted) };
    }
    case 'discarded':
      return { transition: record.t, firing: record.firing };
    case 'owned':
      return { owner: { id: record.owner, epoch: record.epoch } };
    case 'upgraded':
      return { netHash: record.to.hash };
    case 'trimmed':
      return { netHash: record.marking.net.hash };
    case 'loaded':
      return {};
    default:
      return record satisfies never;
  }
}

function showAborted(aborted: readonly number[] = []): Pick<Details, 'aborted'> {
  return aborted.length > 0 ? { aborted } : {};
}

function removedTokens(
  marking: Marking,
  removals: readonly TokenRemoval[] = [],
  detail: ValueDetail,
): readonly InspectedTokens[] {
  return removals.map(([place, ...ids]) => {
    if (detail === 'none') return { place, count: ids.length };
    const wanted = new Set(ids);
    const tokens = tokensIn(marking, place).filter(({ id }) => wanted.has(id));
    return { place, count: ids.length, tokens: tokens.map((token) => showToken(token, detail)) };
  });
}

/** The tokens that a record added, read from the marking after it. */
function givenTokens(
  marking: Marking,
  record: JournalRecord,
  detail: ValueDetail,
): readonly InspectedTokens[] {
  const places =
    record.kind === 'faulted'
      ? [faultPlace.name, unhandledFaultPlace.name]
      : 'give' in record
        ? [...new Set((record.give ?? []).map(([place]) => place))]
        : [];
  return places.flatMap((place) => {
    const tokens = tokensIn(marking, place).filter(({ id }) => id.startsWith(`${record.seq}.`));
    if (tokens.length === 0) return [];
    if (detail === 'none') return [{ place, count: tokens.length }];
    return [
      { place, count: tokens.length, tokens: tokens.map((token) => showToken(token, detail)) },
    ];
  });
}

/** Returns a token with this detail. */
export function showToken({ id, at, value, due }: Token, detail: ValueDetail): InspectedToken {
  return { id, at, ...omitUndefined({ value: showValue(value, detail), due }) };
}

function showList(marking: Marking, change: ListChange, detail: ValueDetail): InspectedListChange {
  const added = 'append' in change ? change.append : 'prefix' in change ? change.prefix : [];
  return {
    place: change.place,
    change: 'append' in change ? 'append' : 'prefix' in change ? 'replacePrefix' : 'truncate',
    length: listIn(marking, change.place).items.length,
    added: added.length,
    ...(detail !== 'none' && { items: added.flatMap((item) => showValue(item, detail) ?? []) }),
  };
}

/** The changes of map places, with the shared state that a record loaded. */
function listMapChanges(record: JournalRecord): readonly MapChange[] {
  if (record.kind === 'loaded') return [{ place: record.place, set: record.entries }];
  return 'maps' in record ? (record.maps ?? []) : [];
}

function showMap({ place, ...writes }: MapChange, detail: ValueDetail): InspectedMapChange {
  const count = listWrittenKeys(writes).length;
  if (detail === 'none') return { place, count };
  const shown = Object.entries(writes).flatMap(
    ([kind, values]): readonly (readonly [string, Json])[] => {
      // A flag, or the names of removed keys. Names of keys are part of a shape.
      if (values === true || Array.isArray(values)) return [[kind, values]];
      return [[kind, showValue(values, detail) ?? null]];
    },
  );
  return { place, count, writes: Object.fromEntries(shown) };
}
