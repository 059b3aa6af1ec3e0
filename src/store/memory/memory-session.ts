import type { Json, LogEvent, SessionKey } from '../../core/index.ts';
import type { RecordSeq } from '../../net/index.ts';
import { MAX_HYDRATION_FAILURES } from '../rules/quarantine.ts';
import { toRunnablePosition } from '../rules/runnable-position.ts';
import type {
  CommittedStep,
  InboxRow,
  InputSeq,
  OwnerId,
  RunnablePosition,
  SessionRow,
  SessionSummary,
  SettledStep,
  StepNumber,
} from '../store.ts';

/** One session of a `MemoryStore`. It keeps steps by reference, because they are frozen JSON. */
export class MemorySession {
  readonly key: SessionKey;
  readonly uid: string;
  readonly agent: string;
  /** Increases with each created session. Orders sessions that changed at the same time. */
  readonly order: number;
  readonly createdAt: number;

  owner: OwnerId | null;
  epoch = 1;
  summary: SessionSummary;
  updatedAt: number;
  failures = 0;
  deleted = false;

  readonly steps: CommittedStep[] = [];
  readonly events: LogEvent[] = [];
  /** The number of the last record of each step. */
  readonly recordEnds: RecordSeq[] = [];
  inbox: readonly InboxRow[] = [];
  lastInput: InputSeq = 0;
  readonly inputsByKey: Map<string, InputSeq> = new Map();
  snapshot: { readonly step: StepNumber; readonly marking: Json } | undefined;

  constructor(
    key: SessionKey,
    init: {
      readonly uid: string;
      readonly agent: string;
      readonly owner: OwnerId;
      readonly at: number;
      readonly netHash: string;
      readonly order: number;
    },
  ) {
    this.key = key;
    this.uid = init.uid;
    this.agent = init.agent;
    this.order = init.order;
    this.owner = init.owner;
    this.createdAt = init.at;
    this.updatedAt = init.at;
    this.summary = {
      status: 'queued',
      activity: 'idle',
      inFlight: 0,
      nextDueAt: null,
      pending: [],
      netHash: init.netHash,
    };
  }

  get head(): StepNumber {
    return this.steps.length;
  }

  get lastSeq(): number {
    return this.events.length;
  }

  get lastRecord(): RecordSeq {
    return this.recordEnds.at(-1) ?? 0;
  }

  get quarantined(): boolean {
    return this.failures >= MAX_HYDRATION_FAILURES;
  }

  /** True with effects in flight, unread inputs, or a timer. */
  get hasWork(): boolean {
    return this.summary.inFlight > 0 || this.inbox.length > 0 || this.summary.nextDueAt !== null;
  }

  get runnablePosition(): RunnablePosition {
    const { key, summary, inbox, updatedAt } = this;
    const { inFlight, nextDueAt } = summary;
    return toRunnablePosition({
      key,
      inFlight,
      nextDueAt,
      updatedAt,
      inboxPending: inbox.length > 0,
    });
  }

  toRow(): SessionRow {
    return {
      ...this.summary,
      status: this.quarantined ? 'quarantined' : this.summary.status,
      key: this.key,
      uid: this.uid,
      agent: this.agent,
      owner: this.owner,
      epoch: this.epoch,
      head: this.head,
      lastSeq: this.lastSeq,
      inboxPending: this.inbox.length > 0,
      failures: this.failures,
      createdAt: this.createdAt,
      updatedAt: this.updatedAt,
    };
  }

  /** Appends a step that has been checked. */
  append({ step, at, records, events, summary, inboxUpTo, snapshot }: SettledStep): void {
    this.steps.push({ step, at, records, events });
    this.recordEnds.push(this.lastRecord + records.length);
    for (const event of events) this.events.push(event);
    this.summary = summary;
    this.updatedAt = at;
    if (this.inbox.length > 0)
      this.inbox = this.inbox.filter(({ inputSeq }) => inputSeq > inboxUpTo);
    if (snapshot !== undefined) this.snapshot = { step, marking: snapshot };
  }

  /** Appends an input. Its dedupe key must be new. */
  appendInput(input: InboxRow['input'], key: string): InputSeq {
    const inputSeq = this.lastInput + 1;
    this.inbox = [...this.inbox, { inputSeq, input, key }];
    this.lastInput = inputSeq;
    this.inputsByKey.set(key, inputSeq);
    return inputSeq;
  }

  /** Finds the index of the first step with a record at or after `record`. */
  findStepIndex(record: RecordSeq): number {
    let low = 0;
    let high = this.recordEnds.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.recordEnds[middle] ?? Infinity) < record) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
