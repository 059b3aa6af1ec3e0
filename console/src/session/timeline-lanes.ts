import type { JournalRecord } from '../../../src/net/journal/index.ts';
import { isTrouble } from './record-moves.ts';

/** A firing of an effect on the timeline, from its start to its end. */
export interface LaneBar {
  readonly firing: number;
  readonly transition: string;
  readonly lane: number;
  readonly from: number;
  /** Undefined while it runs. */
  to: number | undefined;
  outcome: string | undefined;
  /** Records at which an attempt failed or was repeated. */
  readonly attempts: number[];
}

/** A stretch of records in which calls wait for a person. */
export interface WaitSpan {
  readonly from: number;
  to: number | undefined;
}

/** Collects what the timeline draws, record by record. */
export class TimelineLanes {
  readonly bars: LaneBar[] = [];
  readonly waits: WaitSpan[] = [];
  readonly troubles: number[] = [];
  /** Records at which another process became the owner. */
  readonly owners: number[] = [];
  /** Records at which a turn started. */
  readonly turns: number[] = [];
  lanes = 1;
  last = 0;
  readonly #open = new Map<number, LaneBar>();
  #waiting = 0;

  add(record: JournalRecord): void {
    this.last = record.seq;
    if (isTrouble(record)) this.troubles.push(record.seq);
    switch (record.kind) {
      case 'started':
        this.#start(record.seq, record.t);
        break;
      case 'ended':
        this.#end(record.firing, record.seq, record.outcome);
        break;
      case 'faulted':
        if (record.firing !== undefined) this.#end(record.firing, record.seq, 'failed');
        break;
      case 'retrying':
      case 'restarted':
        this.#open.get(record.firing)?.attempts.push(record.seq);
        if (record.kind === 'restarted' && record.cause === 'crash') this.owners.push(record.seq);
        break;
      case 'fired':
        if (record.t.endsWith('turn.start')) this.turns.push(record.seq);
        break;
      case 'owned':
        this.owners.push(record.seq);
        break;
      case 'injected':
      case 'discarded':
      case 'upgraded':
      case 'loaded':
      case 'trimmed':
        break;
      default:
        record satisfies never;
    }
    if ('aborted' in record)
      for (const firing of record.aborted ?? []) this.#end(firing, record.seq, 'cancelled');
    this.#countWaiting(record);
  }

  #start(seq: number, transition: string): void {
    const used = new Set([...this.#open.values()].map(({ lane }) => lane));
    let lane = 0;
    while (used.has(lane)) lane++;
    this.lanes = Math.max(this.lanes, lane + 1);
    const bar: LaneBar = {
      firing: seq,
      transition,
      lane,
      from: seq,
      to: undefined,
      outcome: undefined,
      attempts: [],
    };
    this.#open.set(seq, bar);
    this.bars.push(bar);
  }

  #end(firing: number, seq: number, outcome: string): void {
    const bar = this.#open.get(firing);
    if (bar === undefined) return;
    bar.to = seq;
    bar.outcome = outcome;
    this.#open.delete(firing);
  }

  /** Tokens of `tool.parked` are calls that wait. */
  #countWaiting(record: JournalRecord): void {
    const isParked = (place: string): boolean => place.endsWith('tool.parked');
    let change = 0;
    if ('give' in record)
      for (const [place, , more] of record.give ?? [])
        if (isParked(place)) change += more?.times ?? 1;
    const removals = [
      ...(('take' in record ? record.take : undefined) ?? []),
      ...(('reset' in record ? record.reset : undefined) ?? []),
    ];
    for (const [place, ...ids] of removals) if (isParked(place)) change -= ids.length;
    const before = this.#waiting;
    this.#waiting += change;
    const open = this.waits.at(-1);
    if (before === 0 && this.#waiting > 0) this.waits.push({ from: record.seq, to: undefined });
    else if (before > 0 && this.#waiting === 0 && open !== undefined) open.to = record.seq;
  }
}
