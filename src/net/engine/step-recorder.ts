import type { Agenda } from './agenda.ts';
import type { CheckedOutputs, OutletValue } from './check-outputs.ts';
import type { FiringsInFlight } from './firings-in-flight.ts';
import { applyRecord } from '../journal/apply-record.ts';
import { faultPlace, unhandledFaultPlace } from '../language/fault.ts';
import type { Firing, Marking } from '../journal/marking.ts';
import type { Due, JournalRecord, RecordOutputs, RecordSeq } from '../journal/record.ts';
import type { Attempt, Settled, SettledOutlet } from './settled.ts';

/** A record without its number and time, which `StepRecorder` adds. */
export type NewRecord<R extends JournalRecord = JournalRecord> = R extends JournalRecord
  ? Omit<R, 'seq' | 'at'>
  : never;

export type Writable<T> = { -readonly [K in keyof T]: T[K] };

const none: readonly never[] = [];

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
      records: this.#records,
      outlets: this.#outlets,
      attempts: [...this.#pendingAttempts.values()],
    };
    this.#records = [];
    this.#outlets = [];
    this.#pendingAttempts.clear();
    return settled;
  }

  /** Applies a record to the marking and journals it. */
  append(record: NewRecord, now: number): void {
    const seq = this.marking.seq + 1;
    const full: JournalRecord = { seq, at: this.at(now), ...record };
    const ending = this.#firingsRemovedBy(full);
    applyRecord(this.marking, full);
    this.#records.push(full);
    this.#touch(full);
    for (const firing of ending) this.#unindexFiring(firing);
    if ('aborted' in full) for (const id of full.aborted ?? []) this.#onAbort?.(id);
    if (full.kind === 'started') this.#indexFiring(seq);
    else if (full.kind === 'retrying' || full.kind === 'restarted') this.#indexFiring(full.firing);
  }

  /** Returns the firings that the record removes from the marking. */
  #firingsRemovedBy(record: JournalRecord): readonly Firing[] {
    if (!('aborted' in record) && !('firing' in record)) return none;
    const aborted = 'aborted' in record ? (record.aborted ?? none) : none;
    const ended = record.kind === 'ended' || record.kind === 'faulted' ? record.firing : undefined;
    const ids = ended === undefined ? aborted : [ended, ...aborted];
    return ids.flatMap((id) => this.marking.firings.get(id) ?? none);
  }

  #indexFiring(id: RecordSeq): void {
    const firing = this.marking.firings.get(id);
    if (firing === undefined) return;
    this.#agenda.touch(this.#firings.add(firing));
    this.#agenda.addFiringTimer(firing);
  }

  #unindexFiring(firing: Firing): void {
    this.#pendingAttempts.delete(firing.firing);
    this.#agenda.touch(this.#firings.remove(firing));
  }

  /** Notifies the agenda of every place that the record changed. */
  #touch(record: JournalRecord): void {
    if ('take' in record) for (const [place] of record.take ?? []) this.#agenda.touch(place);
    if ('reset' in record) for (const [place] of record.reset ?? []) this.#agenda.touch(place);
    if ('give' in record) {
      let index = 0;
      for (const [place, , more] of record.give ?? []) {
        this.#agenda.touch(place);
        const times = more?.times ?? 1;
        if (more?.due !== undefined) this.#watchTokens(place, record.seq, index, times, more.due);
        index += times;
      }
    }
    if (record.kind !== 'faulted') return;
    this.#agenda.touch(faultPlace.name);
    this.#agenda.touch(unhandledFaultPlace.name);
  }

  #watchTokens(place: string, seq: RecordSeq, from: number, times: number, due: Due): void {
    for (let n = 0; n < times; n++) this.#agenda.addTokenTimers(place, `${seq}.${from + n}`, due);
  }
}

/** Copies checked outputs into a new record. */
export function writeOutputs(
  record: Writable<RecordOutputs>,
  { give, lists, maps }: CheckedOutputs,
): void {
  if (give !== undefined) record.give = give;
  if (lists !== undefined) record.lists = lists;
  if (maps !== undefined) record.maps = maps;
}
