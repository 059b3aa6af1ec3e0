import type { Seq, SessionKey } from '../../core/index.ts';
import type { RecordSeq } from '../../net/index.ts';
import type { StepNumber, Store } from '../../store/index.ts';

/** A position in the log at which `session.fork` may cut. */
export interface ForkPoint {
  /** The value of `upTo`: the last event that the copy has. */
  readonly upTo: Seq;
  /** The last step that the copy has. 0: it has none. */
  readonly step: StepNumber;
  /** The last record that the copy has. 0: it has none. */
  readonly record: RecordSeq;
  /** The time of the step, epoch milliseconds. 0 for step 0. */
  readonly at: number;
}

/**
 * Yields the fork points after an event, in order: one for each step that wrote events, together with the steps after
 * it that wrote none, and one before the first event. A journal that was trimmed has those from its first record on.
 */
export async function* readForkPoints(
  store: Store,
  key: SessionKey,
  after: Seq,
): AsyncGenerator<ForkPoint, void, undefined> {
  let point: ForkPoint = { upTo: 0, step: 0, record: 0, at: 0 };
  for await (const { step, at, records, events } of store.steps(key, 0)) {
    const isFirst = point.step === 0 && records.length > 0 && records[0]?.kind !== 'trimmed';
    if (events.length > 0 && point.upTo > after && (isFirst || point.record > 0)) yield point;
    const upTo = point.upTo + events.length;
    point = { upTo, step, record: records.at(-1)?.seq ?? point.record, at };
  }
  if (point.upTo > after) yield point;
}
