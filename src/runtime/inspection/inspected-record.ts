import { optionTable } from '../../core/index.ts';
import type { Json, OptionTable } from '../../core/index.ts';
import type { JournalRecord, RecordSeq } from '../../net/index.ts';
import type { StepNumber } from '../../store/index.ts';
import type { ValueDetail } from './value-detail.ts';

/** The options of `session.records`. */
export interface RecordsOptions {
  /** Default: `full`. */
  readonly values?: ValueDetail;
  /** The most records to read, at least 1. Default: no limit. */
  readonly limit?: number;
  /** True: waits for more records at the end of the journal. False: ends there. Default: false. */
  readonly follow?: boolean;
  /** Aborting it ends the iteration. */
  readonly signal?: AbortSignal;
}

/** The options of `session.markingAt`. */
export interface MarkingOptions {
  /** Default: `full`. */
  readonly values?: ValueDetail;
}

/** The options of `session.records`. */
export const RECORDS_OPTIONS: OptionTable = optionTable<RecordsOptions>('records', {
  values: true,
  limit: true,
  follow: true,
  signal: true,
});

/** The options of `session.markingAt`. */
export const MARKING_OPTIONS: OptionTable = optionTable<MarkingOptions>('markingAt', {
  values: true,
});

/** A token of an inspected record or marking. */
export interface InspectedToken {
  /** `<record>.<index>`: the record that added it. */
  readonly id: string;
  /** When it arrived, epoch milliseconds. */
  readonly at: number;
  /** Its value or its shape. Absent with the detail `none`. */
  readonly value?: Json;
  /** The time from which each timed transition may take it, by transition name, in epoch milliseconds. */
  readonly due?: Readonly<Record<string, number>>;
}

/** Tokens of one place that a record took, removed or gave. */
export interface InspectedTokens {
  readonly place: string;
  readonly count: number;
  /** The tokens. Absent with the detail `none`. */
  readonly tokens?: readonly InspectedToken[];
}

/** A change of a list place. */
export interface InspectedListChange {
  readonly place: string;
  readonly change: 'append' | 'replacePrefix' | 'truncate';
  /** Number of items after the change. */
  readonly length: number;
  /** Number of items that were added. */
  readonly added: number;
  /** The added items or their shapes. Absent with the detail `none`. */
  readonly items?: readonly Json[];
}

/** A change of a map place. */
export interface InspectedMapChange {
  readonly place: string;
  /** Number of keys that were written or removed. */
  readonly count: number;
  /** The written values or their shapes, by kind of write and key. Absent with the detail `none`. */
  readonly writes?: Readonly<Record<string, Json>>;
}

/** One journal record as a person or a tool reads it. */
export interface InspectedRecord {
  readonly record: RecordSeq;
  /** The settled step that the record belongs to. All its records were committed together. */
  readonly step: StepNumber;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly kind: JournalRecord['kind'];
  /** The transition that fired. Absent for a record that no transition wrote. */
  readonly transition?: string;
  /** The firing: the record that started it. For a pure transition, this record. */
  readonly firing?: RecordSeq;
  readonly outcome?: 'ok' | 'failed' | 'timeout' | 'cancelled' | 'unknown';
  /** The number of the attempt that a `restarted` record began. */
  readonly attempt?: number;
  readonly cause?: 'retry' | 'crash';
  /** When the next attempt starts, epoch milliseconds. */
  readonly dueAt?: number;
  /** When the attempt times out, epoch milliseconds. */
  readonly timeoutAt?: number;
  /** The code of the error of a `faulted` record. */
  readonly errorCode?: string;
  /** Why an attempt or a firing failed. Only with the detail `full`. */
  readonly reason?: string;
  /** The runtime that became the owner, with its epoch. */
  readonly owner?: { readonly id: string; readonly epoch: number };
  /** The hash of the net from this record on. */
  readonly netHash?: string;
  /** Firings that this record ended because it took or reset them. */
  readonly aborted?: readonly RecordSeq[];
  readonly taken: readonly InspectedTokens[];
  /** Tokens that were removed by a reset arc. */
  readonly reset?: readonly InspectedTokens[];
  readonly given: readonly InspectedTokens[];
  readonly lists?: readonly InspectedListChange[];
  readonly maps?: readonly InspectedMapChange[];
  /**
   * The record as it is stored, with the current names of places and transitions, for `applyRecord` of
   * `petrichor/journal`. Only with the detail `full`.
   */
  readonly stored?: JournalRecord;
}
