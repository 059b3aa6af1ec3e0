import { InvalidInputError } from '../../core/index.ts';
import { applyRecord, emptyMarking } from '../../net/index.ts';
import type { Marking, RecordSeq } from '../../net/index.ts';
import { copyMarking, renameRecord } from '../../net/internal.ts';
import type { NamedNet } from '../../net/internal.ts';
import type { SessionRow, StepNumber, Store } from '../../store/index.ts';
import { restoreSnapshot } from '../journal/hydrate.ts';
import { JournalTrimmedError } from '../journal/journal-trimmed-error.ts';

/** A smaller number costs memory; a larger one costs time at each jump in a long session. */
const RECORDS_PER_CHECKPOINT = 256;
/** The checkpoints of all sessions. They share values with each other, but not with the sessions that run. */
const MAX_CHECKPOINTS = 128;

/** A marking after a whole step. */
export interface MarkingAfterStep {
  readonly step: StepNumber;
  readonly marking: Marking;
}

interface Checkpoint extends MarkingAfterStep {
  readonly uid: string;
  /** The hash of the net whose names it has. */
  readonly net: string;
}

/**
 * Recomputes earlier markings of sessions, with the current names of a net. It begins at the newest of: a checkpoint in memory, the stored snapshot, the
 * start of the journal. A journal only grows, so a checkpoint never becomes wrong; the least recently used are dropped.
 */
export class MarkingHistory {
  readonly #store: Store;
  #checkpoints: readonly Checkpoint[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  /** Returns a marking at or before a record, from which a replay may begin. The caller may change it. */
  async findStart(row: SessionRow, net: NamedNet, record: RecordSeq): Promise<MarkingAfterStep> {
    const known = this.#findCheckpoint(row, net, record);
    const from = known?.marking.seq ?? 0;
    if (record - from >= RECORDS_PER_CHECKPOINT) {
      const restored = await restoreSnapshot(this.#store, row.key, record, net);
      if (restored !== undefined && restored.marking.seq > from) {
        this.keep(row, net, restored);
        return restored;
      }
    }
    if (known === undefined) return { step: 0, marking: emptyMarking() };
    this.#checkpoints = [...this.#checkpoints.filter((one) => one !== known), known];
    return { step: known.step, marking: copyMarking(known.marking) };
  }

  /**
   * Returns the marking after a record, and the step of the record. Default of `record`: the last one.
   * @throws InvalidInputError if there is no such record, JournalTrimmedError if it was removed
   */
  async markingAt(row: SessionRow, net: NamedNet, record?: RecordSeq): Promise<MarkingAfterStep> {
    const start = await this.findStart(row, net, record ?? Number.MAX_SAFE_INTEGER);
    const { marking } = start;
    let { step } = start;
    if (marking.seq === record) return { step, marking };
    for await (const { records, step: number } of this.#store.steps(row.key, step)) {
      step = number;
      for (const one of records) {
        applyRecord(marking, renameRecord(one, marking, net));
        if (marking.seq === record) return { step, marking };
        if (one.kind === 'trimmed' && record !== undefined && one.seq > record)
          throw new JournalTrimmedError(row.key, `record ${record}`, one.seq);
      }
      this.keep(row, net, { step, marking });
    }
    if (record === undefined) return { step, marking };
    throw new InvalidInputError(
      'record',
      `must be a record from 0 to ${marking.seq}, the last one; it is ${record}.`,
    );
  }

  /** Keeps a copy of the marking after a step, if the nearest earlier checkpoint is far enough away. */
  keep(row: SessionRow, net: NamedNet, { step, marking }: MarkingAfterStep): void {
    const before = this.#findCheckpoint(row, net, marking.seq)?.marking.seq ?? 0;
    if (marking.seq - before < RECORDS_PER_CHECKPOINT) return;
    const checkpoint = { uid: row.uid, net: net.hash, step, marking: copyMarking(marking) };
    this.#checkpoints = [...this.#checkpoints, checkpoint].slice(-MAX_CHECKPOINTS);
  }

  #findCheckpoint(
    { uid }: SessionRow,
    { hash }: NamedNet,
    record: RecordSeq,
  ): Checkpoint | undefined {
    return this.#checkpoints
      .filter((one) => one.uid === uid && one.net === hash && one.marking.seq <= record)
      .reduce<Checkpoint | undefined>(
        (best, one) => (best === undefined || one.marking.seq > best.marking.seq ? one : best),
        undefined,
      );
  }
}
