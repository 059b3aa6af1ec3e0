import type { Json, Seq, SessionKey, SessionUid } from '../../core/index.ts';
import type { RecordSeq } from '../../net/index.ts';
import { numberAcceptedInputs } from '../rules/step-rules.ts';
import { MAX_HYDRATION_FAILURES } from '../rules/quarantine.ts';
import { toRunnablePosition } from '../rules/runnable-position.ts';
import type {
  InboxRow,
  InputSeq,
  JournalTrim,
  OwnerId,
  RunnablePosition,
  SessionRow,
  SessionSummary,
  SettledStep,
  StepNumber,
} from '../store.ts';
import { InputKeys } from './input-keys.ts';
import { MemoryJournal } from './memory-journal.ts';

/** The lists of sessions that have nothing in them are one. */
const EMPTY: readonly never[] = Object.freeze([]);

/** What is kept of a session for its changes. */
export interface SessionChangeMark {
  readonly key: SessionKey;
  readonly uid: SessionUid;
  /** Undefined for a deleted session: its journal must not stay in memory. */
  session: MemorySession | undefined;
  /** The number of its first change, which is its creation. */
  readonly created: number;
  /** The number of its last change. Undefined when another session was created with the same key. */
  last: number | undefined;
}

/** One session of a `MemoryStore`. */
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

  readonly journal: MemoryJournal = new MemoryJournal();
  readonly inputKeys: InputKeys = new InputKeys();
  inbox: readonly InboxRow[] = EMPTY;
  /** What `MemoryChanges` keeps of the session. */
  changed: SessionChangeMark | undefined;
  #snapshot: { readonly step: StepNumber; readonly marking: Json | Packed } | undefined;

  constructor(
    key: SessionKey,
    init: {
      readonly uid: string;
      readonly agent: string;
      readonly owner: OwnerId;
      readonly at: number;
      readonly netHash: string;
      readonly nextDueAt?: number;
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
      nextDueAt: init.nextDueAt ?? null,
      pending: [],
      netHash: init.netHash,
    };
  }

  get head(): StepNumber {
    return this.journal.head;
  }

  get lastSeq(): Seq {
    return this.journal.lastSeq;
  }

  get lastRecord(): RecordSeq {
    return this.journal.lastRecord;
  }

  get lastInput(): InputSeq {
    return this.inputKeys.last;
  }

  get snapshot(): { readonly step: StepNumber; readonly marking: Json } | undefined {
    const stored = this.#snapshot;
    if (stored === undefined) return undefined;
    const { step, marking } = stored;
    return { step, marking: marking instanceof Packed ? marking.unpack() : marking };
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
    const { status, activity, inFlight, nextDueAt, pending, netHash } = this.summary;
    return {
      status: this.quarantined ? 'quarantined' : status,
      activity,
      inFlight,
      nextDueAt,
      pending,
      netHash,
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

  /** Numbers the inputs that a step accepts. Undefined when it must not accept them. */
  acceptInputs(step: SettledStep): readonly InputSeq[] | undefined {
    if (step.accepts === undefined || step.accepts.length === 0) return [];
    const inboxUpTo = (this.inbox[0]?.inputSeq ?? this.lastInput + 1) - 1;
    return numberAcceptedInputs(
      step,
      { newest: this.lastInput, inboxUpTo },
      (key) => this.inputKeys.find(key) !== undefined,
    );
  }

  /** Appends a step that has been checked, and the inputs that it accepts. */
  append({
    step,
    at,
    records,
    events,
    summary,
    inboxUpTo,
    accepts = [],
    snapshot,
  }: SettledStep): void {
    this.journal.append({ step, at, records, events });
    this.summary = summary;
    this.updatedAt = at;
    if (this.inbox.length > 0) {
      const unread = this.inbox.filter(({ inputSeq }) => inputSeq > inboxUpTo);
      this.inbox = unread.length === 0 ? EMPTY : unread;
    }
    for (const key of accepts) this.inputKeys.add(key);
    if (snapshot !== undefined) this.#snapshot = { step, marking: snapshot };
  }

  /** Shortens the journal to a base that has been checked. */
  trim({ step, base, snapshot }: JournalTrim): void {
    this.journal.trim(step, base);
    if ((this.#snapshot?.step ?? 0) < step) this.#snapshot = { step, marking: snapshot };
  }

  /** Appends an input. Its dedupe key must be new. */
  appendInput(input: InboxRow['input'], key: string): InputSeq {
    const inputSeq = this.inputKeys.add(key);
    this.inbox = [...this.inbox, { inputSeq, input, key }];
    return inputSeq;
  }

  /** Packs what is not needed until its next turn, of a session that has rested for a while. */
  pack(): void {
    this.journal.pack();
    this.inputKeys.pack();
    for (const text of [this.uid, ...Object.values(this.key)]) flatten(text);
    if (this.summary.pending.length === 0) this.summary = { ...this.summary, pending: EMPTY };
    const stored = this.#snapshot;
    if (stored !== undefined && !(stored.marking instanceof Packed))
      this.#snapshot = { step: stored.step, marking: new Packed(stored.marking) };
  }
}

/** Makes the engine store a text in one piece. A random UUID consists of twenty until something looks into it. */
function flatten(text: string): boolean {
  return /^$/.test(text);
}

/** A JSON value as its text. */
class Packed {
  readonly #text: string;

  constructor(value: Json) {
    this.#text = JSON.stringify(value);
  }

  unpack(): Json {
    const value: Json = JSON.parse(this.#text);
    return value;
  }
}
