import type { LogEvent, Seq } from '../../core/index.ts';
import type { RecordSeq, Trimmed } from '../../net/index.ts';
import { withoutNumbers } from '../encoding/numbered-items.ts';
import type { CommittedStep, StepNumber } from '../store.ts';

/** The newest steps of a session that are not packed. A reader that follows a turn finds its steps among them. */
const RECENT = 64;

/**
 * The steps of a session. The newest are kept by reference, because they are frozen JSON. Older ones are JSON text, which
 * takes a third of the memory.
 */
export class MemoryJournal {
  #steps: (CommittedStep | string)[] = [];
  /** The numbers of the last record and of the last event of each step. */
  #recordEnds: RecordSeq[] = [];
  #eventEnds: Seq[] = [];
  #packed = 0;
  /** The bytes of the first steps, those that were measured. */
  #measured = { steps: 0, bytes: 0 };

  get head(): StepNumber {
    return this.#steps.length;
  }

  get lastSeq(): Seq {
    return this.#eventEnds.at(-1) ?? 0;
  }

  get lastRecord(): RecordSeq {
    return this.#recordEnds.at(-1) ?? 0;
  }

  append(step: CommittedStep): void {
    this.#recordEnds.push(step.records.at(-1)?.seq ?? this.lastRecord);
    this.#eventEnds.push(this.lastSeq + step.events.length);
    this.#steps.push(step);
    if (this.#steps.length - this.#packed > 2 * RECENT) this.#packUpTo(this.#steps.length - RECENT);
  }

  /** The number of the last record of a step. */
  findLastRecord(step: StepNumber): RecordSeq | undefined {
    return this.#recordEnds[step - 1];
  }

  /** Replaces the records of the steps up to one by the base of the journal. */
  trim(to: StepNumber, base: Trimmed): void {
    for (let index = 0; index < to; index++) {
      const step = this.step(index);
      if (step === undefined) break;
      const isLast = index === to - 1;
      if (!isLast && step.records.length === 0) continue;
      const trimmed = { ...step, records: isLast ? [base] : [] };
      this.#steps[index] = index < this.#packed ? JSON.stringify(trimmed) : trimmed;
      if (!isLast) this.#recordEnds[index] = 0;
    }
    this.#measured = { steps: 0, bytes: 0 };
  }

  /** Packs all steps, of a session that has rested for a while. */
  pack(): void {
    this.#packUpTo(this.#steps.length);
    // A copy has no room for more items: the first item of an array takes the room of 17.
    this.#steps = this.#steps.slice();
    this.#recordEnds = this.#recordEnds.slice();
    this.#eventEnds = this.#eventEnds.slice();
  }

  /** Measures records and events as JSON, each step once. A step is not measured when it is committed: few stores are asked. */
  measure(): number {
    let { steps, bytes } = this.#measured;
    for (; steps < this.#steps.length; steps++) {
      const step = this.step(steps);
      if (step === undefined) break;
      for (const items of [step.records, step.events])
        bytes += Buffer.byteLength(JSON.stringify(withoutNumbers(items, step.at)));
    }
    this.#measured = { steps, bytes };
    return bytes;
  }

  /** Reads a step by its number less one. Undefined after the last one. */
  step(index: number): CommittedStep | undefined {
    const stored = this.#steps[index];
    if (typeof stored !== 'string') return stored;
    const step: CommittedStep = JSON.parse(stored);
    return step;
  }

  /** Reads the events after `seq` of the step that has the next one. Empty when there is none. */
  eventsAfter(seq: Seq): readonly LogEvent[] {
    const index = findAfter(this.#eventEnds, seq);
    return this.step(index)?.events.slice(seq - (this.#eventEnds[index - 1] ?? 0)) ?? [];
  }

  /** Finds the index of the first step with a record at or after `record`. */
  findStepIndex(record: RecordSeq): number {
    return findAfter(this.#recordEnds, record - 1);
  }

  #packUpTo(end: number): void {
    for (; this.#packed < end; this.#packed++)
      this.#steps[this.#packed] = JSON.stringify(this.#steps[this.#packed]);
  }
}

/** The index of the first end after a number. */
function findAfter(ends: readonly number[], number: number): number {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ends[middle] ?? Infinity) <= number) low = middle + 1;
    else high = middle;
  }
  return low;
}
