import type { Json } from '../core/json/json.ts';
import type { LogEvent, Seq } from '../core/events/log-event.ts';
import type { SessionId } from '../core/identity/ids.ts';
import type { SessionKey } from '../core/identity/session-key.ts';
import type { JournalRecord, MapChange, RecordSeq } from '../net/journal/record.ts';
import type { DocumentChange, DocumentStore } from './documents.ts';

/** What a store keeps when the process dies: `process` nothing, `crash` everything acknowledged. */
export type Durability = 'process' | 'crash';

/** The number of a settled step within its session; the first is 1. */
export type StepNumber = number;

/** A runtime that may own sessions; unique for its life. */
export type OwnerId = string;

/** The number of an input in its session's inbox; the first is 1. Acknowledges an injection. */
export type InputSeq = number;

/** Something for a session's net from outside: a value for one of its environment places. */
export interface InboxInput {
  readonly place: string;
  readonly value: Json;
}

/** An input that no step has consumed yet, with its number and its dedupe key. */
export interface InboxRow {
  readonly inputSeq: InputSeq;
  readonly input: InboxInput;
  readonly key: string;
}

/** The number under which an input stands in its inbox: of the earlier one, when it is a duplicate. */
export interface InjectReceipt {
  readonly inputSeq: InputSeq;
  /** True when this dedupe key was there before: nothing was added. */
  readonly duplicate: boolean;
}

/** An input for one session, under its dedupe key. */
export interface SessionInput {
  readonly key: SessionKey;
  readonly input: InboxInput;
  readonly dedupeKey: string;
}

/** What a session is created with. */
export interface SessionInit {
  readonly agent: string;
  /** Has joined the store. */
  readonly owner: OwnerId;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly netHash: string;
}

/** Writes that belong together: they take effect all at once, or none of them does. */
export interface Submission {
  readonly documents?: readonly DocumentChange[];
  /** Sessions that the inputs need; one that exists is left as it is. */
  readonly sessions?: readonly { readonly key: SessionKey; readonly init: SessionInit }[];
  /** In order. A dedupe key that is taken adds nothing. */
  readonly inputs?: readonly SessionInput[];
}

/** The receipts of all inputs, in order, or the document that was at another version: then nothing was written. */
export type SubmitResult =
  | { readonly ok: true; readonly receipts: readonly InjectReceipt[] }
  | { readonly ok: false; readonly kind: string; readonly id: string; readonly version: number };

/** What a session waits for from outside, as any process may ask for it. */
export interface StoredPendingCall {
  readonly callId: string;
  readonly name: string;
  readonly args: Json;
  readonly needs: 'approval' | 'result';
  readonly invocationId: string;
  readonly fingerprint: string;
  /** Why a person is asked: the tool's policy, or a crash that left the outcome unknown. */
  readonly reason?: 'policy' | 'crash';
  /** What is asked, or known so far, when the call ran and then began to wait. */
  readonly request?: Json;
  /** The tool runs again with the answer; otherwise the answer is the result. */
  readonly resumes?: true;
  /** How often something was asked while it ran; each question takes one answer. */
  readonly asks?: number;
  /** For a call that a called agent made: the session in which that agent works. */
  readonly session?: SessionId;
  /** For a call that a called agent made: the called agents down to it, by name. */
  readonly path?: readonly string[];
  /** For a call that a called agent made: the call of this session that called the agent. */
  readonly via?: string;
}

/**
 * What a session is doing. `idle`: it takes the next message. `waiting`: a turn needs an answer from outside.
 * `quarantined`: it could not be hydrated three times in a row and is left alone.
 */
export type SessionStatus = 'idle' | 'running' | 'waiting' | 'quarantined';

/** What a step says of its session besides its journal: indexed, so that one query finds the sessions with work. */
export interface SessionSummary {
  readonly status: SessionStatus;
  /** What its agent calls this status, where it has a word of its own. */
  readonly phase?: string;
  /** Effects that an owner may be running. One that waits for a retry is a timer. */
  readonly inFlight: number;
  /** When the earliest timer falls due, epoch ms. */
  readonly nextDueAt: number | null;
  readonly pending: readonly StoredPendingCall[];
  readonly netHash: string;
}

/**
 * A session as the store keeps it: what its last step said of it, who owns it, and how far its journal and log go.
 * Times are epoch milliseconds.
 */
export interface SessionRow extends SessionSummary {
  readonly key: SessionKey;
  /** The incarnation: a deleted and re-created id has another. Event ids derive from it. */
  readonly uid: string;
  readonly agent: string;
  readonly owner: OwnerId | null;
  readonly epoch: number;
  /** The number of the last committed step; 0 when there is none. */
  readonly head: StepNumber;
  /** The last committed log event's number; 0 when there is none. */
  readonly lastSeq: Seq;
  readonly inboxPending: boolean;
  /** How often hydrating failed in a row. */
  readonly failures: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A settled step: all records from one settling, with what they showed and wrote. Committed whole or not at all. */
export interface SettledStep {
  readonly key: SessionKey;
  readonly uid: string;
  readonly owner: OwnerId;
  readonly epoch: number;
  /** This step's number: the session's head must be one less. */
  readonly step: StepNumber;
  readonly at: number;
  readonly records: readonly JournalRecord[];
  /** In order, numbered on from the session's `lastSeq`. */
  readonly events: readonly LogEvent[];
  /** Inbox rows up to this one are consumed by the step. */
  readonly inboxUpTo: InputSeq;
  readonly summary: SessionSummary;
  /** Shared state (`user:`, `app:`): versions that must still hold, and what to write. */
  readonly shared?: {
    readonly reads: Readonly<Record<string, number>>;
    readonly writes: MapChange;
  };
  /** The marking after this step, to hydrate from; replaces the one before. */
  readonly snapshot?: Json;
}

/** Whether a step is durable, or why nothing of it was written. */
export type CommitResult =
  | { readonly ok: true }
  /** Another owner, head or incarnation: the session is no longer this runtime's. Nothing was written. */
  | { readonly ok: false; readonly refused: 'stale' }
  /** A shared key moved since it was read. Nothing was written. */
  | { readonly ok: false; readonly refused: 'conflict'; readonly keys: readonly string[] }
  /**
   * Somebody else is writing to the session: it was left out, so that the other steps of the commit need not wait.
   * Nothing was written; commit it again, alone. Only in a commit of several steps: one alone waits.
   */
  | { readonly ok: false; readonly refused: 'busy' };

/** A step as read back: its records and events with their numbers. `at` is epoch milliseconds. */
export interface CommittedStep {
  readonly step: StepNumber;
  readonly at: number;
  readonly records: readonly JournalRecord[];
  readonly events: readonly LogEvent[];
}

/**
 * The state that an app and one of its users share over sessions, with the versions by which a commit sees that it
 * moved.
 */
export interface SharedState {
  /** Keys with their `user:` or `app:` prefix. */
  readonly entries: Readonly<Record<string, Json>>;
  /**
   * By key, one more for every committed step that wrote it. A deleted key keeps its version, so that no version
   * ever names two values; a key that never was has version 0.
   */
  readonly versions: Readonly<Record<string, number>>;
}

/** Which sessions are listed: those that agree with every member given. */
export interface SessionFilter {
  readonly appName?: string;
  readonly userId?: string;
  readonly agent?: string;
  /**
   * `null`: without the sessions in which called agents work. An id: only those that work for the session of this id,
   * directly or through others. Default: all sessions.
   */
  readonly parent?: SessionId | null;
  readonly status?: SessionStatus;
  /** A whole number from 0; no limit unless given. */
  readonly limit?: number;
  /** Continues after this row (the last one of the page before). */
  readonly after?: SessionKey;
}

/** What a store tells its runtime: these sessions changed, by this process or another. */
export type StoreListener = (changed: 'any' | readonly SessionKey[]) => void;

/**
 * Where sessions live. Every method either did what it says, durably as `durability` says, or threw and changed nothing.
 * Errors: `StoreUnavailableError` (busy, disk full: try again), `StoreFailedError` (trying again does not help),
 * `StoreCorruptError` (names the file; nothing is overwritten), `SessionNotFoundError`.
 */
export interface Store extends DocumentStore {
  readonly durability: Durability;

  /** Declares a runtime as a possible owner: until it leaves or its process ends, peers see it as alive. */
  join(owner: OwnerId): Promise<void>;

  /** The runtime is gone: its sessions may be taken at once, effects in flight included. Closing the store does it too. */
  leave(owner: OwnerId): Promise<void>;

  /** The session with this key, created (owned by `owner`, who has joined, epoch 1) when there is none. */
  create(
    key: SessionKey,
    init: SessionInit,
  ): Promise<{
    readonly row: SessionRow;
    readonly created: boolean;
  }>;

  find(key: SessionKey): Promise<SessionRow | undefined>;

  /**
   * Sessions, newest change first; all of them when the filter has no `limit`.
   * @throws SessionNotFoundError when the session named by `after` is gone.
   */
  list(filter: SessionFilter): Promise<readonly SessionRow[]>;

  /**
   * Makes `owner`, who has joined, the session's owner with the next epoch. Refused (`owned`) while the present owner is alive and has
   * effects in flight: they are recovered only when their owner is known dead. Taking one's own session keeps the epoch.
   */
  claim(
    key: SessionKey,
    owner: OwnerId,
  ): Promise<
    | { readonly ok: true; readonly row: SessionRow; readonly recovered: boolean }
    | { readonly ok: false; readonly owned: OwnerId }
  >;

  /**
   * Takes the session from its owner, also from one that lives: the epoch goes up and nobody owns it. What the former
   * owner still commits is refused, and whoever claims the session next recovers what was in flight. Resolves with the
   * former owner; null when there was none.
   */
  evict(key: SessionKey): Promise<{ readonly evicted: OwnerId | null }>;

  /** Commits each session's step or none of it, all in one transaction; one refused session does not harm the others. */
  commit(steps: readonly SettledStep[]): Promise<readonly CommitResult[]>;

  /**
   * Puts an input before the session's owner, once per dedupe key, whoever owns it and whatever it is doing.
   * @throws AlreadyAnsweredError when the key answers a call (`answer:<callId>`) and another input has it already.
   */
  inject(key: SessionKey, input: InboxInput, dedupeKey: string): Promise<InjectReceipt>;

  /**
   * Writes documents, creates sessions and injects inputs, all in one transaction.
   * @throws AlreadyAnsweredError when the key of an input answers a call that has an answer, also one of this
   * submission; SessionNotFoundError; InvalidInputError. Nothing was written then.
   */
  submit(submission: Submission): Promise<SubmitResult>;

  /** Inputs after `after` that no step has consumed, oldest first. */
  inbox(key: SessionKey, after: InputSeq): Promise<readonly InboxRow[]>;

  /** The newest snapshot, if there is one, with the step it was taken at. */
  snapshot(
    key: SessionKey,
  ): Promise<{ readonly step: StepNumber; readonly marking: Json } | undefined>;

  /** Steps after `after`, oldest first, read in pages. */
  steps(key: SessionKey, after: StepNumber): AsyncIterable<CommittedStep>;

  /** Of the steps that hold records from `fromRecord` on, those that changed a list place: what rebuilds a list. */
  listSteps(key: SessionKey, fromRecord: RecordSeq): AsyncIterable<CommittedStep>;

  /** Log events after `from` (0: all), oldest first, read in pages; ends at the log's end. */
  read(key: SessionKey, from?: Seq): AsyncIterable<LogEvent>;

  /**
   * Sessions of these agents (any unless said) that need someone now: their owner (or nobody) is dead or is `owner`, and they have
   * effects in flight, unread input, or a timer due by `now`. Quarantined ones are left out. Those that changed
   * longest ago come first.
   */
  findRunnable(query: {
    readonly owner: OwnerId;
    readonly appName?: string;
    readonly agents?: readonly string[];
    readonly now: number;
    readonly limit: number;
  }): Promise<readonly SessionRow[]>;

  /** The earliest `nextDueAt` of the sessions of these agents (any unless said); given an `owner`, without those of other living owners. */
  nextDueAt(query: {
    readonly owner?: OwnerId;
    readonly agents?: readonly string[];
  }): Promise<number | undefined>;

  /** Counts a failed hydration; the third in a row makes the session `quarantined`. `ok` clears the count. */
  recordHydration(key: SessionKey, ok: boolean): Promise<{ readonly quarantined: boolean }>;

  /** The shared state that a session of this app and user sees. */
  shared(scope: { readonly appName: string; readonly userId: string }): Promise<SharedState>;

  /**
   * Removes the session and its data, and the sessions in which agents worked for it, in one transaction; fences their
   * owners and leaves tombstones. False when there was none.
   * Shared state stays. Made again under the same key, the session is another one, with another `uid`.
   */
  delete(key: SessionKey): Promise<boolean>;

  /**
   * Calls back after every commit, injection or delete, here or in another process, until unsubscribed.
   * For one made here it names the sessions, before the promise of the call resolves.
   */
  subscribe(listener: StoreListener): () => void;

  /** Finishes what was asked for, lets the owners that joined here leave, and releases everything. */
  close(): Promise<void>;
}
