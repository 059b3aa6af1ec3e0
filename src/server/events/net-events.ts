import { omitUndefined } from '../../core/internal.ts';
import type { Seq } from '../../core/index.ts';
import type { JournalRecord } from '../../net/index.ts';
import type { CommittedStep, StepNumber } from '../../store/index.ts';
import { wireEventId } from '../wire/wire-event.ts';
import type { WireEvent } from '../wire/wire-event.ts';
import { toWireTime } from '../wire/wire-schemas.ts';

export interface NetEventsOptions {
  readonly sessionUid: string;
  /** Reads the settled steps after one, in order. */
  readonly steps: (after: StepNumber) => AsyncIterable<CommittedStep>;
  /** Net events up to this log entry are skipped. */
  readonly from: Seq;
}

/**
 * The net events of a session, for clients that request `include=net`. Each journal record becomes an event with its
 * kind and transition, without tokens. It comes before the log event of its step, or of the next step that shows one.
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

  /** The net events since the last call, up to a log entry. */
  async readUpTo(seq: Seq): Promise<readonly WireEvent[]> {
    if (seq <= this.#from) return [];
    const netEvents: WireEvent[] = [];
    let known = seq;
    for await (const { step, records, events } of this.#steps(this.#step)) {
      this.#step = step;
      const last = events.at(-1)?.seq ?? 0;
      // Everything up to this step is at or before `from`, so it is skipped.
      if (last > 0 && last <= this.#from) netEvents.length = 0;
      else netEvents.push(...records.map((record) => this.#toWireEvent(record, seq)));
      // A step may append several log entries, or none.
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
      ...omitUndefined({
        transition: 't' in record ? record.t : undefined,
        firing: 'firing' in record && record.firing !== undefined ? record.firing : undefined,
        outcome: 'outcome' in record ? record.outcome : undefined,
        attempt: 'attempt' in record ? record.attempt : undefined,
      }),
      processed_at: toWireTime(record.at),
    };
  }
}
