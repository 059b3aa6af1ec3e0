import { omitUndefined } from '../../core/internal.ts';
import type { Json } from '../../core/index.ts';
import type { Firing, Marking, RecordSeq, Token } from '../../net/index.ts';
import { encodeMarking } from '../../net/internal.ts';
import type { EncodedMarking } from '../../net/internal.ts';
import type { StepNumber } from '../../store/index.ts';
import type { InspectedToken, InspectedTokens } from './inspected-record.ts';
import { showToken } from './inspect-record.ts';
import { showValue, type ValueDetail } from './value-detail.ts';

/** What is in a place. */
export type InspectedPlace =
  | {
      readonly kind: 'tokens';
      readonly count: number;
      /** Oldest first. Absent with the detail `none`. */
      readonly tokens?: readonly InspectedToken[];
    }
  | {
      readonly kind: 'list';
      readonly count: number;
      /** Absent with the detail `none`. */
      readonly items?: readonly Json[];
    }
  | {
      readonly kind: 'map';
      readonly count: number;
      /** Absent with the detail `none`. */
      readonly entries?: Readonly<Record<string, Json>>;
    };

/** An effect between its start and its end. */
export interface InspectedFiring {
  /** The record that started it. */
  readonly firing: RecordSeq;
  readonly transition: string;
  /** Epoch milliseconds, as the other times. */
  readonly startedAt: number;
  readonly attempt: number;
  /** How many owners died during its attempts. */
  readonly crashes: number;
  readonly timeoutAt: number;
  /** When the next attempt begins. Absent while an attempt runs. */
  readonly retryAt?: number;
  /** Why the last attempt failed. Only with the detail `full`. */
  readonly reason?: string;
  /** The tokens that it took. */
  readonly inputs: readonly InspectedTokens[];
}

/** The marking of a session after a record. */
export interface InspectedMarking {
  readonly record: RecordSeq;
  readonly step: StepNumber;
  /** The time of the record, epoch milliseconds. 0 before the first record. */
  readonly at: number;
  /** The hash of the net that the tokens belong to. Empty before the first record. */
  readonly netHash: string;
  /** Every place that holds something, by name. */
  readonly places: Readonly<Record<string, InspectedPlace>>;
  /** The effects in flight, by the time of their start. */
  readonly firings: readonly InspectedFiring[];
  /** All of it, for `decodeMarking` of `petrichor/journal`. Only with the detail `full`. */
  readonly encoded?: EncodedMarking;
}

/** Describes a marking. */
export function inspectMarking(
  marking: Marking,
  step: StepNumber,
  detail: ValueDetail,
): InspectedMarking {
  const isShown = detail !== 'none';
  const show = (value: Json): Json => showValue(value, detail) ?? null;
  const places: [string, InspectedPlace][] = [];
  for (const [place, tokens] of marking.tokens) {
    const shown = isShown && { tokens: showTokens(tokens, detail) };
    places.push([place, { kind: 'tokens', count: tokens.length, ...shown }]);
  }
  for (const [place, { items }] of marking.lists) {
    if (items.length === 0) continue;
    const shown = isShown && { items: items.map(show) };
    places.push([place, { kind: 'list', count: items.length, ...shown }]);
  }
  for (const [place, entries] of marking.maps) {
    const count = Object.keys(entries).length;
    if (count === 0) continue;
    const shown = isShown && {
      entries: Object.fromEntries(Object.entries(entries).map(([key, one]) => [key, show(one)])),
    };
    places.push([place, { kind: 'map', count, ...shown }]);
  }
  return {
    record: marking.seq,
    step,
    at: marking.at,
    netHash: marking.net.hash,
    places: Object.fromEntries(places.toSorted(([a], [b]) => (a < b ? -1 : 1))),
    firings: [...marking.firings.values()].map((firing) => showFiring(firing, detail)),
    ...(detail === 'full' && { encoded: encodeMarking(marking) }),
  };
}

function showFiring(
  { id, t, startedAt, attempt, crashes, timeoutAt, retryAt, reason, inputs }: Firing,
  detail: ValueDetail,
): InspectedFiring {
  return {
    firing: id,
    transition: t,
    startedAt,
    attempt,
    crashes,
    timeoutAt,
    ...omitUndefined({ retryAt, reason: detail === 'full' ? reason : undefined }),
    inputs: [...inputs].map(([place, tokens]) => ({
      place,
      count: tokens.length,
      ...(detail !== 'none' && { tokens: showTokens(tokens, detail) }),
    })),
  };
}

function showTokens(tokens: readonly Token[], detail: ValueDetail): readonly InspectedToken[] {
  return tokens.map((token) => showToken(token, detail));
}
