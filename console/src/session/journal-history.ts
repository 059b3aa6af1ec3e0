import { applyRecord, copyMarking, emptyMarking } from '../../../src/net/journal/index.ts';
import type { JournalRecord, Marking } from '../../../src/net/journal/index.ts';

/** How many records lie between two markings that are kept. */
const CHECKPOINT_EVERY = 256;

/**
 * The records of a session, and the marking after any of them. The marking after record n is computed by the function
 * that the runtime uses, from the nearest marking that is kept: at most 256 records are applied.
 */
export class JournalHistory {
  readonly #records: JournalRecord[] = [];
  readonly #steps: number[] = [];
  /** By the number of their record, divided by the number of records between them. */
  readonly #checkpoints = new Map<number, Marking>();
  /** The marking after the last record. It grows with each record. */
  readonly #end: Marking = emptyMarking();
  /** The marking that was asked for last. Dragging forward continues from it. */
  #cursor: Marking = emptyMarking();

  /** The number of the last record. 0: there is none. */
  get last(): number {
    return this.#end.seq;
  }

  /** The number of the first record. More than 1 in a journal that was trimmed. */
  get #first(): number {
    return this.#records[0]?.seq ?? 1;
  }

  /**
   * A journal that is trimmed while it is read begins anew, with its base.
   * @throws Error if the record does not follow the last one: the journal is damaged.
   */
  append(record: JournalRecord, step: number): void {
    applyRecord(this.#end, record);
    if (record.kind === 'trimmed') this.#clear();
    this.#records.push(record);
    this.#steps.push(step);
    if (record.seq % CHECKPOINT_EVERY === 0)
      this.#checkpoints.set(record.seq / CHECKPOINT_EVERY, copyMarking(this.#end));
  }

  record(number: number): JournalRecord | undefined {
    return this.#records[number - this.#first];
  }

  step(number: number): number {
    return this.#steps[number - this.#first] ?? 0;
  }

  /** The records from `from` to `to`, both included. */
  slice(from: number, to: number = this.last): readonly JournalRecord[] {
    const before = this.#first - 1;
    return this.#records.slice(Math.max(0, from - 1 - before), Math.max(0, to - before));
  }

  /**
   * Returns the marking after a record. It is empty before the first record of a journal that was trimmed. Do not change it:
   * the next call may return the same object.
   */
  markingAt(number: number): Marking {
    const target = this.#clamp(number);
    if (target === this.last) return this.#end;
    const near = this.#checkpointBefore(target);
    const canContinue = this.#cursor.seq <= target && this.#cursor.seq >= near.seq;
    this.#cursor = this.#advance(canContinue ? this.#cursor : copyMarking(near), target);
    return this.#cursor;
  }

  /** Returns a marking of its own: no later call changes it. */
  copyAt(number: number): Marking {
    const target = this.#clamp(number);
    return this.#advance(copyMarking(this.#checkpointBefore(target)), target);
  }

  #clamp(number: number): number {
    return Math.max(0, Math.min(number, this.last));
  }

  #checkpointBefore(target: number): Marking {
    return this.#checkpoints.get(Math.floor(target / CHECKPOINT_EVERY)) ?? emptyMarking();
  }

  #advance(marking: Marking, target: number): Marking {
    for (const record of this.slice(marking.seq + 1, target)) applyRecord(marking, record);
    return marking;
  }

  #clear(): void {
    this.#records.length = 0;
    this.#steps.length = 0;
    this.#checkpoints.clear();
    this.#cursor = emptyMarking();
  }

  /** The value of a token. Its id names the record that gave it, and its number there. */
  tokenValue(id: string): unknown {
    const [seq, index] = id.split('.').map(Number);
    const record = this.record(seq ?? 0);
    const given = record !== undefined && 'give' in record ? (record.give ?? []) : [];
    let left = index ?? 0;
    for (const [, value, more] of given) {
      left -= more?.times ?? 1;
      if (left < 0) return value;
    }
    return undefined;
  }

  /** The last record of the settled step that contains a record. */
  endOfStep(number: number): number {
    const step = this.step(number);
    let end = number;
    while (end < this.last && this.step(end + 1) === step) end++;
    return end;
  }
}
