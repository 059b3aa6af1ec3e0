import type {
  Json,
  LogEvent,
  Seq,
  SessionActivity,
  SessionId,
  SessionKey,
  Usage,
} from '../core/index.ts';
import type { JournalRecord, MapChange, RecordSeq, Trimmed } from '../net/index.ts';
import type { ExportSelection, ItemImportOptions, StoreItem } from './store-item.ts';
import type {
  CommittedStep,
  InboxInput,
  InputSeq,
  OwnerId,
  SessionRow,
  SessionSummary,
  StepNumber,
  StepUsage,
  StoredPendingCall,
  StoredStatus,
} from './session-data.ts';
import type { DocumentChange, DocumentStore } from './documents.ts';

export type {
  CommittedStep,
  InboxInput,
  InputSeq,
  OwnerId,
  SessionRow,
  SessionSummary,
  StepNumber,
  StepUsage,
  StoredPendingCall,
  StoredStatus,
} from './session-data.ts';

/** What survives the death of the process. `process`: nothing. `crash`: every acknowledged write. */
export type Durability = 'process' | 'crash';

/** An input that no step has consumed yet, with its number and its dedupe key. */
export interface InboxRow {
  readonly inputSeq: InputSeq;
  readonly input: InboxInput;
  readonly key: string;
}

/** The number of an injected input. For a duplicate, the number of the earlier input. */
export interface InjectReceipt {
  readonly inputSeq: InputSeq;
  /** True when the dedupe key was used before. Nothing was added. */
  readonly duplicate: boolean;
}

/** An input for one session, under its dedupe key. */
export interface SessionInput {
  readonly key: SessionKey;
  readonly input: InboxInput;
  readonly dedupeKey: string;
}

/** The initial values of a session. */
export interface SessionInit {
  readonly agent: string;
  /** An owner that has joined the store. */
  readonly owner: OwnerId;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly netHash: string;
  /**
   * When the session has work although it has no step and no input (epoch ms): `findRunnable` finds it from then on.
   * Default: never.
   */
  readonly nextDueAt?: number;
}

/** Writes of one transaction: all of them take effect, or none. */
export interface Submission {
  readonly documents?: readonly DocumentChange[];
  /** Sessions to create for the inputs. A session that exists is not changed. */
  readonly sessions?: readonly { readonly key: SessionKey; readonly init: SessionInit }[];
  /** Inputs, in order. An input whose dedupe key was used before adds nothing. */
  readonly inputs?: readonly SessionInput[];
}

/** The receipts of all inputs, in order; or the document that had another version, and then nothing was written. */
export type SubmitResult =
  | { readonly ok: true; readonly receipts: readonly InjectReceipt[] }
  | { readonly ok: false; readonly kind: string; readonly id: string; readonly version: number };

/** A step to commit: journal records with their events and writes. It is committed as a whole or not at all. */
export interface SettledStep {
  readonly key: SessionKey;
  readonly uid: string;
  readonly owner: OwnerId;
  readonly epoch: number;
  /** The number of this step. It must be the session's `head` + 1. */
  readonly step: StepNumber;
  readonly at: number;
  readonly records: readonly JournalRecord[];
  /** In order. Their numbers continue the session's `lastSeq`. */
  readonly events: readonly LogEvent[];
  /** The step consumes the inbox rows up to and including this one. */
  readonly inboxUpTo: InputSeq;
  /**
   * The dedupe keys of inputs that the step consumes and that no inbox has, in order. They are accepted with the step,
   * and get the next numbers of inputs. Refused (`inputs`) when one of the keys was used before, or when the inbox has
   * an input that this step does not consume. Default: none.
   */
  readonly accepts?: readonly string[];
  readonly summary: SessionSummary;
  /** Writes to shared state (`user:`, `app:`), and the versions they are based on, which must be current. */
  readonly shared?: {
    readonly reads: Readonly<Record<string, number>>;
    readonly writes: MapChange;
  };
  /** The marking after this step. It replaces the earlier snapshot. */
  readonly snapshot?: Json;
  /** Adds to the usage of the session's app, user and agent. Undefined: the step used no model. */
  readonly usage?: readonly StepUsage[];
}

/** What usage can be grouped by. `day` is a UTC day. */
export type UsageDimension = 'agent' | 'user' | 'day' | 'model';

/** Selects and groups the usage of one app. */
export interface UsageQuery {
  readonly appName: string;
  readonly by: readonly UsageDimension[];
  /** The first UTC day, as `YYYY-MM-DD`. Default: the first day there is. */
  readonly from?: string;
  /** The last UTC day, as `YYYY-MM-DD`. Default: the last day there is. */
  readonly to?: string;
  readonly userId?: string;
  readonly agent?: string;
}

/** The usage of one group. It has the members that the query groups by. */
export interface UsageTotal {
  readonly agent?: string;
  /** The user's id. */
  readonly user?: string;
  /** A UTC day, as `YYYY-MM-DD`. */
  readonly day?: string;
  /** The name of the model. Empty: unknown. */
  readonly model?: string;
  /** Number of model calls that returned an answer. */
  readonly calls: number;
  readonly tokens: Usage;
}

/** Selects the pending calls that match every given member. */
export interface PendingCallQuery {
  readonly appName: string;
  readonly userId?: string;
  /** The agent of the session that made the call. */
  readonly agent?: string;
  /** The name of the tool. */
  readonly tool?: string;
  readonly needs?: StoredPendingCall['needs'];
  /** Continues after this `position`. */
  readonly after?: string;
  /** An integer of at least 0. */
  readonly limit: number;
}

/** A pending call with the session that made it. */
export interface SessionPendingCall {
  readonly key: SessionKey;
  /** The agent of the session. */
  readonly agent: string;
  readonly call: StoredPendingCall;
  /** Where the call stands in the list. Calls are listed by `since`, so it stays valid when calls come and go. */
  readonly position: string;
}

/**
 * A session that was created, changed or deleted. `row` is the session as it is when the change is read. `cursor` is the
 * position after the change.
 */
export type SessionRowChange =
  | {
      readonly type: 'created' | 'changed';
      readonly key: SessionKey;
      readonly row: SessionRow;
      readonly cursor: string;
    }
  | {
      readonly type: 'deleted';
      readonly key: SessionKey;
      readonly uid: string;
      readonly cursor: string;
    };

/** Selects session changes. */
export interface SessionChangeQuery {
  readonly appName: string;
  /** The `cursor` of an earlier page. Undefined: from now on. */
  readonly after?: string;
  /** The most changes in a page: an integer of at least 1. */
  readonly limit: number;
}

/** A page of session changes. */
export interface SessionChangePage {
  /** Oldest change first. A session that changed several times is listed once, at its last change. */
  readonly changes: readonly SessionRowChange[];
  /** The position after this page. */
  readonly cursor: string;
  /** False: more changes can be read at once. */
  readonly isLast: boolean;
}

/** What must hold when a session is deleted, and what is written with it. */
export interface DeleteCondition {
  /**
   * The session and all those of the agents that it called. Each must have this uid, be at this step, and have no unread
   * inputs.
   */
  readonly sessions: readonly Pick<SessionRow, 'uid' | 'head'>[];
  /** Written in the same transaction. Each document must have its expected version. Default: none. */
  readonly documents?: readonly DocumentChange[];
}

/** What a session must be to be replaced, and what it begins with. */
export interface SessionReplacement {
  /** The session must have this uid, be at this step, and have this number of unread inputs. */
  readonly expected: Pick<SessionRow, 'uid' | 'head'> & { readonly unread: number };
  readonly init: SessionInit;
  /** Its first inputs, in order. */
  readonly inputs: readonly Omit<SessionInput, 'key'>[];
}

/** What the journal of a session begins with after a trim. */
export interface JournalTrim {
  /** The session must have this uid and be at this step. */
  readonly expected: Pick<SessionRow, 'uid' | 'head'>;
  /** The last step whose records are removed: at least 2. */
  readonly step: StepNumber;
  /** The only record of the step from now on. It has the number and the time of the step's last record. */
  readonly base: Trimmed;
  /** The snapshot of the same marking. It replaces a snapshot of an earlier step. */
  readonly snapshot: Json;
}

/** The result of committing a step: it is durable, or nothing of it was written. */
export type CommitResult =
  /** `inputs`: the numbers of the inputs that the step accepts. Undefined when it accepts none. */
  | { readonly ok: true; readonly inputs?: readonly InputSeq[] }
  /** The session has another owner, epoch, head or uid: the step's owner has lost it, or it was deleted. */
  | { readonly ok: false; readonly refused: 'stale' }
  /** The step must not accept its inputs: write them to the inbox, and commit again without them. */
  | { readonly ok: false; readonly refused: 'inputs' }
  /** These shared keys changed after they were read. */
  | { readonly ok: false; readonly refused: 'conflict'; readonly keys: readonly string[] }
  /**
   * Another client has locked the session. The step was skipped so that the other steps of the commit need not wait.
   * Commit it again, alone: a commit of a single step waits for the lock and never returns `busy`.
   */
  | { readonly ok: false; readonly refused: 'busy' };

/** The result of a claim: the session belongs to the claimer, or nothing changed. */
export type ClaimResult =
  /** `recovered`: the session has effects in flight. */
  | { readonly ok: true; readonly row: SessionRow; readonly recovered: boolean }
  /** This owner is alive and has effects in flight. */
  | { readonly ok: false; readonly owned: OwnerId }
  /** The session is no longer at the step that the claimer expected. The row is the current one. */
  | { readonly ok: false; readonly changed: SessionRow };

/** Where a session is in the order in which `findRunnable` lists sessions. */
export interface RunnablePosition {
  /** Since when the session has work: the time of its last step or, if it only waits for a timer, when that is due. */
  readonly since: number;
  readonly key: SessionKey;
}

/** Sessions with work that an owner may run. */
export interface RunnablePage {
  readonly sessions: readonly SessionRow[];
  /**
   * When the next timer after `now` is due, of the sessions that the owner may run and that have neither effects in
   * flight nor unread inputs. Undefined when there is none in the next 10 seconds. A store may leave out timers behind
   * those of many sessions of other live owners.
   */
  readonly nextDueAt: number | undefined;
}

/** Selects sessions with work that an owner may run. */
export interface RunnableQuery {
  readonly owner: OwnerId;
  readonly appName?: string;
  /** Default: any. */
  readonly agents?: readonly string[];
  /** Epoch milliseconds. */
  readonly now: number;
  /** An integer of at least 0. */
  readonly limit: number;
  /** Continues after this position: that of the last session of the previous page. The session may have changed. */
  readonly after?: RunnablePosition | undefined;
}

/** The state that the sessions of an app and user share, with versions for conflict detection. */
export interface SharedState {
  /** Keys with their `user:` or `app:` prefix. */
  readonly entries: Readonly<Record<string, Json>>;
  /**
   * By key: the number of committed steps that wrote it. A deleted key keeps its version, so that no version names two
   * values. A key that was never written has version 0.
   */
  readonly versions: Readonly<Record<string, number>>;
}

/** Where a session is in the order of creation. A `SessionRow` has these members. */
export interface CreationPosition {
  /** In epoch ms. */
  readonly createdAt: number;
  readonly key: SessionKey;
}

/**
 * The order of a list of sessions, and where it begins. `changed`: by the time of the last change. `created`: by the
 * time of creation, then by id, user and app; a session never moves in this order. Default: `changed`.
 */
export type SessionOrder =
  | {
      readonly order?: 'changed';
      /** Continues after this session: the last one of the previous page. */
      readonly after?: SessionKey | undefined;
    }
  | {
      readonly order: 'created';
      /** Continues after this position: that of the last session of the previous page. The session may be deleted. */
      readonly after?: CreationPosition | undefined;
    };

/** Selects the sessions that match every given member, in an order. */
export type SessionFilter = SessionSelection & SessionOrder;

/** Selects the sessions to count. */
export type SessionCountFilter = Omit<SessionSelection, 'direction' | 'limit'>;

/** Selects the users to list. */
export interface UserQuery {
  readonly appName: string;
  /** True: also the users whose sessions were all deleted. Default: false. */
  readonly withDeleted?: boolean;
}

/** The number of sessions by status, without statuses that no session has. */
export type SessionCounts = { readonly [Status in StoredStatus]?: number };

/** Selects the sessions that match every given member. */
export interface SessionSelection {
  readonly appName?: string;
  readonly userId?: string;
  readonly agent?: string;
  /**
   * `null`: without the sessions of called agents. An id: only the sessions of agents that this session called,
   * directly or through other agents. Default: all sessions.
   */
  readonly parent?: SessionId | null;
  readonly status?: StoredStatus;
  /** Leaves out quarantined sessions, because no runtime continues their turns. */
  readonly activity?: SessionActivity;
  /** Default: `descending`, the newest first. */
  readonly direction?: 'ascending' | 'descending';
  /** An integer of at least 0. Default: no limit. */
  readonly limit?: number;
}

/**
 * Who changed sessions: a call on this store object, or another process. `input`: another process wrote inputs to
 * sessions whose owner joined here, or that have no owner; with `any`, it may have.
 */
export type ChangeOrigin = 'here' | 'elsewhere' | 'input';

/** Called with the sessions that changed, or `any` when another process changed unknown ones. */
export type StoreListener = (changed: 'any' | readonly SessionKey[], origin: ChangeOrigin) => void;

/** The options of `vacuum`. */
export interface VacuumOptions {
  /** Writes the tables or the file anew, without the space of what was deleted. Default: false. */
  readonly full?: boolean;
}

/** What a store takes on its disk, with indexes. A store in memory takes nothing. */
export interface VacuumResult {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/**
 * Stores sessions, documents and shared state. Each method is atomic: it takes effect with the promised `durability`,
 * or throws and changes nothing. Every method may throw `StoreUnavailableError` (try again later), `StoreFailedError`
 * (a retry does not help), `StoreCorruptError` or `StoreClosedError`; methods that take a session key may throw
 * `SessionNotFoundError`.
 */
export interface Store extends DocumentStore {
  readonly durability: Durability;

  /** Registers an owner. It counts as alive until it leaves or its process ends. */
  join(owner: OwnerId): Promise<void>;

  /**
   * Removes an owner. Its sessions can be claimed at once, also those with effects in flight. `close` does this too.
   */
  leave(owner: OwnerId): Promise<void>;

  /**
   * Returns the session with this key, or creates it with epoch 1.
   * @throws InvalidInputError when the owner has not joined
   */
  create(
    key: SessionKey,
    init: SessionInit,
  ): Promise<{
    readonly row: SessionRow;
    readonly created: boolean;
  }>;

  find(key: SessionKey): Promise<SessionRow | undefined>;

  /**
   * Lists sessions. Default: last changed first.
   * @throws SessionNotFoundError when the order is `changed` and the session of `after` does not exist any more
   */
  list(filter: SessionFilter): Promise<readonly SessionRow[]>;

  /** Counts the sessions that match, by status. */
  countSessions(filter: SessionCountFilter): Promise<SessionCounts>;

  /**
   * The bytes of the records and events of the sessions that match, as JSON in UTF-8, without their numbers. A step that a
   * release without this method has written does not count.
   */
  countBytes(filter: SessionCountFilter): Promise<number>;

  /** Lists the users of an app that have a session, each one once, in the order of their names. */
  listUsers(query: UserQuery): Promise<readonly string[]>;

  /**
   * Makes `owner`, who must have joined, the session's owner and increases the epoch. Refused (`owned`) while the
   * current owner is alive and has effects in flight, because effects are recovered only when their owner is dead.
   * Claiming a session that `owner` already has keeps the epoch. With `expected`, refused (`changed`) if the session has
   * another uid or head: an owner decides by what it has read that it can run the session.
   */
  claim(
    key: SessionKey,
    owner: OwnerId,
    expected?: Pick<SessionRow, 'uid' | 'head'>,
  ): Promise<ClaimResult>;

  /**
   * Takes the session from its owner, even if that is alive. The session then has no owner and the next epoch, so later
   * commits of the former owner are refused. The next owner recovers the effects in flight. With `from`, changes nothing
   * if the session has another owner: so an owner gives its session away. Resolves with the former owner; null if
   * nothing changed.
   */
  evict(key: SessionKey, from?: OwnerId): Promise<{ readonly evicted: OwnerId | null }>;

  /**
   * Commits steps in one transaction. A refused step does not affect the other sessions.
   * @throws InvalidStepError when a step does not continue its session's journal; then nothing is written
   */
  commit(steps: readonly SettledStep[]): Promise<readonly CommitResult[]>;

  /**
   * Appends an input to the session's inbox, once per dedupe key. It does not matter which runtime owns the session.
   * @throws AlreadyAnsweredError when the key answers a call (`answer:<callId>`) that already has an answer
   */
  inject(key: SessionKey, input: InboxInput, dedupeKey: string): Promise<InjectReceipt>;

  /**
   * Writes documents, creates sessions and injects inputs, in one transaction.
   * @throws AlreadyAnsweredError when an input answers a call that already has an answer, also one in this submission
   * @throws SessionNotFoundError, InvalidInputError
   */
  submit(submission: Submission): Promise<SubmitResult>;

  /** Finds the input that was accepted under this dedupe key, consumed or not. Undefined when there is none. */
  findInput(key: SessionKey, dedupeKey: string): Promise<InputSeq | undefined>;

  /** Lists the inputs after `after` that no step has consumed, oldest first. */
  inbox(key: SessionKey, after: InputSeq): Promise<readonly InboxRow[]>;

  /** Reads the newest snapshot and the step after which it was taken. */
  snapshot(
    key: SessionKey,
  ): Promise<{ readonly step: StepNumber; readonly marking: Json } | undefined>;

  /**
   * Reads the steps after `after`, oldest first, in pages. In a journal that was trimmed, the steps before the first record,
   * which is of kind `trimmed`, have no records.
   */
  steps(key: SessionKey, after: StepNumber): AsyncIterable<CommittedStep>;

  /** Reads the steps from record `fromRecord` on that changed a list place. They suffice to rebuild the lists. */
  listSteps(key: SessionKey, fromRecord: RecordSeq): AsyncIterable<CommittedStep>;

  /** Reads the log events after `from`, oldest first, in pages. Ends at the end of the log. Default of `from`: 0. */
  read(key: SessionKey, from?: Seq): AsyncIterable<LogEvent>;

  /**
   * Finds sessions with work: effects in flight, unread inputs, or a timer due by `now`. Includes only sessions that
   * are owned by `owner`, by a dead owner, or by none. Leaves out quarantined sessions. The sessions that have had work
   * for longest come first; those with work since the same time are in the order of their keys.
   */
  findRunnable(query: RunnableQuery): Promise<RunnablePage>;

  /**
   * Records whether loading a session succeeded. The third failure in a row makes the session `quarantined`; a success
   * resets the count and ends the quarantine.
   */
  recordHydration(key: SessionKey, ok: boolean): Promise<{ readonly quarantined: boolean }>;

  /**
   * Lists the calls that wait for an answer, the longest waiting first. Calls of called agents are listed once, under
   * the session that made them. Reads an index of pending calls, not the sessions.
   * @throws InvalidInputError when `after` is not a position
   */
  pendingCalls(query: PendingCallQuery): Promise<readonly SessionPendingCall[]>;

  /**
   * Reads the sessions that were created, changed by a step, quarantined or deleted after a position. No change is
   * lost: whatever is committed after the page was read is in a later page. Reads an index, not the sessions that did
   * not change.
   * @throws InvalidInputError when `after` is not a position of this store
   */
  changes(query: SessionChangeQuery): Promise<SessionChangePage>;

  /**
   * Makes the session the newest change, because something that is stored outside its row changed. Does nothing when
   * there is no such session.
   */
  touch(key: SessionKey): Promise<void>;

  /**
   * Sums the usage of committed steps, one entry per group that has any, ordered by the dimensions of `by`. Usage stays
   * when its session is deleted.
   */
  usage(query: UsageQuery): Promise<readonly UsageTotal[]>;

  /** Reads the shared state of this app and user. */
  shared(scope: { readonly appName: string; readonly userId: string }): Promise<SharedState>;

  /**
   * Deletes the session, its data, and the sessions of agents that it called, in one transaction. Fences their owners
   * and leaves tombstones. Shared state stays. A new session with the same key has another `uid`. Returns false when
   * there was no such session. With `condition`, also returns false, and changes nothing, when the condition does not hold:
   * a session that got an input or a step in the meantime stays.
   */
  delete(key: SessionKey, condition?: DeleteCondition): Promise<boolean>;

  /**
   * Deletes the session and creates it again with these inputs, in one transaction, so that its journal begins anew. Fences
   * its owner, and deletes the sessions of agents that it called. The new session has another `uid` and epoch 1. Returns
   * false, and changes nothing, when the session is not as expected.
   * @throws InvalidInputError when the owner has not joined
   */
  replace(key: SessionKey, replacement: SessionReplacement): Promise<boolean>;

  /**
   * Removes the records of the steps up to a step, in one transaction, and begins the journal with the marking after them.
   * Steps, events, inputs and their dedupe keys stay, and owner and epoch do not change. Also removes the long strings that
   * nothing else of the session has. Returns false, and changes nothing, when the session is not as expected, or its
   * journal begins at the step or later already.
   * @throws InvalidInputError when the base is not that of the step
   */
  trim(key: SessionKey, trim: JournalTrim): Promise<boolean>;

  /**
   * Reads everything that is stored, or one session, as of one moment. Does not block writers. Stop to iterate when it
   * is not needed any more: the store keeps the moment readable until then.
   * @throws SessionNotFoundError when the selected session does not exist
   */
  exportItems(selection?: ExportSelection): AsyncIterable<StoreItem>;

  /**
   * Writes exported items in one transaction. The sessions have no owner afterwards, so that a runtime continues them.
   * Reads `items` again from their start when the transaction must be repeated. Returns the keys of the sessions.
   * @throws StoreNotEmptyError when `isWholeStore` is true and the store holds something
   * @throws SessionExistsError when a session exists already
   * @throws InvalidStepError, InvalidInputError when the items do not form sessions
   */
  importItems(
    items: AsyncIterable<StoreItem>,
    options?: ItemImportOptions,
  ): Promise<readonly SessionKey[]>;

  /**
   * Gives the space of what was deleted back, as far as the database can while others use the store. Nothing that can be
   * read changes. With `full`, it writes the tables or the file anew, which stops the writers for as long as it takes: then
   * it is refused while another process has an owner that is alive. A process that opens the store meanwhile waits.
   * @throws StoreInUseError with `full`
   */
  vacuum(options?: VacuumOptions): Promise<VacuumResult>;

  /**
   * Calls the listener after every commit, injection and deletion, in this process or another, and after every creation in
   * this process. For a change by this
   * store object the listener gets the sessions, before the promise of the call resolves. Returns the function that
   * unsubscribes.
   */
  subscribe(listener: StoreListener): () => void;

  /** Completes pending calls, removes the owners that joined through this store object, and releases its resources. */
  close(): Promise<void>;
}
