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

/** A journal in memory: what was appended is durable, all else dies with its owner. Everything is kept as text. */
export class Journal {
  readonly steps: string[] = [];
  /** What left the net with those steps. */
  readonly outlets: OutletValue[] = [];
  #snapshot: string | undefined;
  /** Numbers of the inputs that a committed step consumed. */
  readonly consumed: Set<number> = new Set();

  /** @param snapshot the marking after the step; without one the older snapshot stays */
  append({ records, injected, outlets }: Step, snapshot?: Marking): void {
    this.outlets.push(...outlets);
    this.steps.push(JSON.stringify(records));
    for (const { inputSeq } of injected) if (inputSeq !== undefined) this.consumed.add(inputSeq);
    if (snapshot !== undefined) this.#snapshot = JSON.stringify(toSnapshot(snapshot));
  }

  get records(): readonly JournalRecord[] {
    return this.steps.flatMap((step) => JSON.parse(step) as readonly JournalRecord[]);
  }

  /** The marking as a new owner finds it; from the snapshot it is what the whole journal says. */
  hydrate(): Marking {
    const { records } = this;
    const whole = emptyMarking();
    for (const record of records) applyRecord(whole, record);
    if (this.#snapshot === undefined) return whole;
    const snapshot = JSON.parse(this.#snapshot) as Snapshot;
    const from = oldestListRecord(snapshot) ?? Number.POSITIVE_INFINITY;
    const marking = fromSnapshot(
      snapshot,
      this.records.filter(({ seq }) => seq >= from),
    );
    for (const record of this.records) if (record.seq > snapshot.seq) applyRecord(marking, record);
    assert.deepEqual(toSnapshot(marking), toSnapshot(whole));
    return marking;
  }

  /** True when the journal says how a firing ended: nothing of it may run any more. */
  hasEnded(firing: number): boolean {
    return this.records.some(
      (record) =>
        (record.kind === 'ended' || record.kind === 'faulted') && record.firing === firing,
    );
  }
}
