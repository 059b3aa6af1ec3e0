import type { Seq } from '../../core/index.ts';
import type { JournalRecord } from '../../net/index.ts';
import type { CommittedStep, StepNumber } from '../../store/index.ts';
import { wireEventId } from '../wire/wire-event.ts';
import type { WireEvent } from '../wire/wire-event.ts';
import { toWireTime } from '../wire/wire-schemas.ts';

export interface NetEventsOptions {
  readonly sessionUid: string;
  /** The settled steps after one, in order. */
  readonly steps: (after: StepNumber) => AsyncIterable<CommittedStep>;
  /** What was settled up to this event of the log is known. */
  readonly from: Seq;
}

/**
 * What a session's net did, for those who ask for it: each record of the journal by its kind and its transition,
 * without the tokens, before the event of the log that its step, or the next one that shows anything, led to.
 */
export class NetEvents {
  readonly #uid: string;
  readonly #steps: (after: StepNumber) => AsyncIterable<CommittedStep>;
  #from: Seq;
  #step: StepNumber = 0;

  constructor({ sessionUid, steps, from }: NetEventsOptions) {
    this.#uid = sessionUid;
    this.#steps = steps;
    this.#from = from;
  }

  /** What was done since it was asked last, up to this event. */
  async readUpTo(seq: Seq): Promise<readonly WireEvent[]> {
    if (seq <= this.#from) return [];
    const netEvents: WireEvent[] = [];
    let known = seq;
    for await (const { step, records, events } of this.#steps(this.#step)) {
      this.#step = step;
      const last = events.at(-1)?.seq ?? 0;
      // All before it was known too, whether it showed anything or not.
      if (last > 0 && last <= this.#from) netEvents.length = 0;
      else netEvents.push(...records.map((record) => this.#toWireEvent(record, seq)));
      // A step shows several events, or none.
      known = Math.max(known, last);
      if (last >= seq) break;
    }
    this.#from = known;
    return netEvents;
  }

  #toWireEvent(record: JournalRecord, seq: Seq): WireEvent {
    return {
      id: wireEventId(this.#uid, `net:${record.seq}`),
      type: `net.${record.kind}`,
      seq,
      record: record.seq,
      ...('t' in record && { transition: record.t }),
      ...('firing' in record && record.firing !== undefined && { firing: record.firing }),
      ...('outcome' in record && { outcome: record.outcome }),
      ...('attempt' in record && { attempt: record.attempt }),
      processed_at: toWireTime(record.at),
    };
  }
}
