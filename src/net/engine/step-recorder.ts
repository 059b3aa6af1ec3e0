import { compactList } from '../../core/internal.ts';
import type { Agenda } from './agenda.ts';
import type { CheckedOutputs, OutletValue } from './check-outputs.ts';
import type { FiringsInFlight } from './firings-in-flight.ts';
import { applyRecord } from '../journal/apply-record.ts';
import type { FiringChange } from '../journal/marking-change.ts';
import type { Marking } from '../journal/marking.ts';
import type { JournalRecord, RecordOutputs, RecordSeq } from '../journal/record.ts';
import type { Attempt, Settled, SettledOutlet } from './settled.ts';

/** A record without its number and time. */
export type NewRecord<R extends JournalRecord = JournalRecord> = R extends JournalRecord
  ? Omit<R, 'seq' | 'at'>
  : never;

export type Writable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Records one step: numbers the records, applies them to the marking, keeps the agenda and the firings in flight
 * current, and collects the records, outlet values and attempts until the step is taken.
 */
export class StepRecorder {
  readonly marking: Marking;
  readonly #firings: FiringsInFlight;
  readonly #agenda: Agenda;
  readonly #onAbort: ((firing: RecordSeq) => void) | undefined;
  #records: JournalRecord[] = [];
  #outlets: SettledOutlet[] = [];
  /** Attempts to begin, by firing. An aborted one is removed. */
  readonly #pendingAttempts = new Map<RecordSeq, Attempt>();
  /** The latest time passed to this recorder. It never goes back, so that what fell due stays due. */
  #latest = 0;

  constructor(
    marking: Marking,
    firings: FiringsInFlight,
    agenda: Agenda,
    onAbort: ((firing: RecordSeq) => void) | undefined,
  ) {
    this.marking = marking;
    this.#firings = firings;
    this.#agenda = agenda;
    this.#onAbort = onAbort;
  }

  /** The records of this step so far. */
  get records(): readonly JournalRecord[] {
    return this.#records;
  }

  /** True if there are records to commit. A discarded result alone can wait for the next step. */
  get hasUncommitted(): boolean {
    return this.#records.some((record) => record.kind !== 'discarded');
  }

  /** The number of the next record. */
  get nextSeq(): RecordSeq {
    return this.marking.seq + 1;
  }

  /** Returns the time for a record. It never goes back, even if the clock does. */
  at(now: number): number {
    this.#latest = Math.max(now, this.#latest, this.marking.at);
    return this.#latest;
  }

  /** Adds the values that the last record put into outlets. */
  emitOutlets(outlets: readonly OutletValue[]): void {
    for (const outlet of outlets) this.#outlets.push({ ...outlet, record: this.marking.seq });
  }

  /** Adds an attempt to begin after the records are durable. */
  addAttempt(attempt: Attempt): void {
    this.#pendingAttempts.set(attempt.firing, attempt);
  }

  removeAttempt(firing: RecordSeq): void {
    this.#pendingAttempts.delete(firing);
  }

  /** Returns and clears the records, outlet values and attempts since the previous call. */
  takeSettled(): Settled {
    const settled = {
      records: compactList(this.#records),
      outlets: this.#outlets,
      attempts: [...this.#pendingAttempts.values()],
    };
    this.#records = [];
    this.#outlets = [];
    this.#pendingAttempts.clear();
    return settled;
  }

  /** Applies a record to the marking and journals it. Its number is `nextSeq`. */
  append(record: JournalRecord): void {
    const change = applyRecord(this.marking, record);
    this.#records.push(record);
    if (change.isUpgrade) {
      this.#firings.reload(this.marking.firings.values());
      this.#agenda.reload();
      return;
    }
    for (const place of change.places) this.#agenda.touch(place);
    for (const { place, token } of change.clocked) this.#agenda.addTokenTimers(place, token);
    for (const firing of change.firings) this.#followFiring(firing);
  }

  #followFiring({ change, firing }: FiringChange): void {
    switch (change) {
      case 'started':
      case 'updated':
        this.#agenda.touch(this.#firings.set(firing));
        this.#agenda.addFiringTimer(firing);
        break;
      case 'aborted':
      case 'ended':
        this.#pendingAttempts.delete(firing.id);
        this.#agenda.touch(this.#firings.delete(firing));
        if (change === 'aborted') this.#onAbort?.(firing.id);
        break;
      default:
        change satisfies never;
    }
  }
}

/** Copies checked outputs into a new record. */
export function writeOutputs(
  record: Writable<RecordOutputs>,
  { give, lists, maps }: CheckedOutputs,
): void {
  if (give !== undefined) record.give = compactList(give);
  if (lists !== undefined) record.lists = compactList(lists);
  if (maps !== undefined) record.maps = compactList(maps);
}
