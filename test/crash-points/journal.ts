import assert from 'node:assert/strict';
import {
  applyRecord,
  emptyMarking,
  fromSnapshot,
  oldestListRecord,
  toSnapshot,
} from '../../src/net/index.ts';
import type { OutletValue } from '../../src/net/engine/check-outputs.ts';
import type { JournalRecord, Marking, Snapshot, Step } from '../../src/net/index.ts';

/** A journal in memory. Appended records are durable; everything else is lost with its owner. Everything is stored as text. */
export class Journal {
  readonly steps: string[] = [];
  /** The outlet values of the committed steps. */
  readonly outlets: OutletValue[] = [];
  #snapshot: string | undefined;
  /** The numbers of the inputs that committed steps consumed. */
  readonly consumed: Set<number> = new Set();
  /** The firings whose end committed steps hold. */
  readonly #ended: Set<number | undefined> = new Set();

  /** @param snapshot the marking after the step. If it is undefined, the older snapshot stays. */
  append({ records, injected, outlets }: Step, snapshot?: Marking): void {
    this.outlets.push(...outlets);
    this.steps.push(JSON.stringify(records));
    for (const record of records)
      if (record.kind === 'ended' || record.kind === 'faulted') this.#ended.add(record.firing);
    for (const { inputSeq } of injected) if (inputSeq !== undefined) this.consumed.add(inputSeq);
    if (snapshot !== undefined) this.#snapshot = JSON.stringify(toSnapshot(snapshot));
  }

  get records(): readonly JournalRecord[] {
    return this.steps.flatMap((step) => JSON.parse(step) as readonly JournalRecord[]);
  }

  /** Returns the marking that a new owner restores. It asserts that the snapshot and the whole journal agree. */
  hydrate(): Marking {
    const { records } = this;
    const whole = emptyMarking();
    for (const record of records) applyRecord(whole, record);
    if (this.#snapshot === undefined) return whole;
    const snapshot = JSON.parse(this.#snapshot) as Snapshot;
    const from = oldestListRecord(snapshot) ?? Number.POSITIVE_INFINITY;
    const marking = fromSnapshot(
      snapshot,
      records.filter(({ seq }) => seq >= from),
    );
    for (const record of records) if (record.seq > snapshot.seq) applyRecord(marking, record);
    assert.deepEqual(toSnapshot(marking), toSnapshot(whole));
    return marking;
  }

  /** True if the journal has the end of a firing, so that no attempt of it may run. */
  hasEnded(firing: number): boolean {
    return this.#ended.has(firing);
  }
}
