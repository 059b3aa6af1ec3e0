import { optionTable } from '../../core/index.ts';
import type {
  Json,
  LogEvent,
  OptionTable,
  PartialEvent,
  Seq,
  SessionStatus,
  Timestamp,
  Usage,
} from '../../core/index.ts';
import type { Agent, AgentDescription } from '../../agents/index.ts';
import type {
  InterruptOptions,
  PendingCall,
  PendingCallChange,
  PendingCallPage,
  PendingCallPageOptions,
  Runtime,
  SessionChangeEvent,
  SessionChangesOptions,
  SessionInspection,
  UsageOptions,
  WatchPendingOptions,
} from '../../runtime/index.ts';
import type {
  DeleteCondition,
  DocumentChange,
  DocumentResult,
  Durability,
  UsageTotal,
} from '../../store/index.ts';
import type { ManagedAgentDef } from './agent-def.ts';
import type { SessionEvent } from './session-event.ts';
import type { ManagedStatus } from './session-status.ts';
import type { UserDefineOutcomeEvent, UserEvent, UserMessageEvent } from './user-event.ts';

/** One version of an agent. */
export type ManagedAgent = DefinedAgent | CodeAgent;

interface AgentVersion {
  readonly id: string;
  /** Starts at 1 and grows by one with each change. */
  readonly version: number;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly archivedAt?: Timestamp;
}

/** An agent that is a stored definition. It can be changed. */
export interface DefinedAgent extends AgentVersion {
  readonly source: 'definition';
  readonly definition: ManagedAgentDef;
}

/**
 * An agent that a program passes to the runtime: `agent()`, another kind of agent, or an ADK `App`. Its versions record
 * how its net and its description changed. Only the program can change it.
 */
export interface CodeAgent extends AgentVersion {
  readonly source: 'code';
  readonly description: AgentDescription;
}

/**
 * A session: its id, its id and its user, or a session that was read. A session that a program created with
 * `Runtime.session` is found only with its user, because such an id is unique per user. `usage` and `streamLog` do not
 * look up a session again that this runtime has read.
 */
export type SessionRef =
  | string
  | { readonly id: string; readonly userId: string }
  | Pick<ManagedSession, 'id' | 'owner'>;

/** The owner of a session. Session ids are generated, so they are unique across owners. */
export interface SessionOwner {
  readonly userId: string;
  /** Must be the runtime's own app if set. Default: the runtime's app. */
  readonly appName?: string;
}

/** Where a session's tools run. An environment that cannot be provided is rejected when the session starts. */
export interface SessionEnvironment {
  /** Environment variables for bash and code execution. */
  readonly env?: Readonly<Record<string, string>>;
  /** Working folder of the built-in tools, below the sandbox's root. */
  readonly workingFolder?: string;
  /** The client runs the built-in tools: their calls wait for `user.tool_result`. */
  readonly selfHosted?: boolean;
}

/** Options of `startSession`. */
export interface StartOptions {
  readonly environment?: SessionEnvironment;
  readonly title?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /**
   * The id of the session, unique for its owner: a start with the id of an existing session of the owner returns that
   * session. It excludes `environment` and `dedupeKey`. Default: a new id.
   */
  readonly id?: string;
  /** A start with the same key returns the same session. */
  readonly dedupeKey?: string;
  /** Initial events, in order. The session is created with all of them, or not at all. */
  readonly events?: readonly (UserMessageEvent | UserDefineOutcomeEvent)[];
  /** Documents that are written atomically with the session. */
  readonly documents?: (sessionId: string) => readonly DocumentChange[];
}

/** Options of `fork`. */
export interface ForkOptions {
  /** The last event of the copy. Default: all events. */
  readonly upTo?: Seq;
  /** Instead of `upTo`: the copy has the steps that end at this record of the journal or before. */
  readonly atRecord?: number;
  /** The id of the copy. A fork with the same id returns the same copy. Default: a new id. */
  readonly id?: string;
  /** Documents that are written atomically with the copy's record. */
  readonly documents?: (sessionId: string) => readonly DocumentChange[];
}

/** The options of `deleteSession`. */
export interface DeleteSessionOptions {
  /**
   * Deletes the session only if it, with all sessions of the agents that it called, is exactly these, each at this step and
   * without unread inputs. Default: in any case.
   */
  readonly unchanged?: DeleteCondition['sessions'];
  /** With `unchanged`: documents that are written atomically with the deletion. Default: none. */
  readonly documents?: readonly DocumentChange[];
}

/** The options of `deleteSession`. */
export const DELETE_SESSION_OPTIONS: OptionTable = optionTable<DeleteSessionOptions>(
  'deleteSession',
  { unchanged: true, documents: true },
);

/** What an event of a batch refers to. */
export interface AddedEvent {
  /** The invocation that a message starts or an interrupt stops. */
  readonly invocationId?: string;
  /** The call that an answer is for. */
  readonly callId?: string;
}

/** Events of one or several sessions that are accepted together: all of them, or none if one is rejected. */
export interface EventBatch {
  /**
   * Reads a session. The batch checks all events against the session as it was when the batch first read it.
   * @throws the same errors as `ManagedRuntime.getSession`
   */
  getSession(session: SessionRef): Promise<ManagedSession>;
  /**
   * Checks an event and adds it.
   * @throws the same errors as `ManagedRuntime.sendEvent`
   */
  add(
    session: SessionRef,
    event: UserEvent | Json,
    options?: { readonly dedupeKey?: string },
  ): Promise<AddedEvent>;
  /**
   * Writes all events, in order, and these documents in one transaction. If a document is not at the version that its
   * change names, nothing is written.
   * @throws AlreadyAnsweredError if a call was already answered; nothing was written
   * @throws SessionNotFoundError if a session was deleted; nothing was written
   */
  submit(
    documents?: readonly DocumentChange[],
  ): Promise<
    | { readonly ok: true; readonly sent: readonly SentEvent[] }
    | Extract<DocumentResult, { readonly ok: false }>
  >;
}

/** The options of `startSession`. */
export const START_OPTIONS: OptionTable = optionTable<StartOptions>('startSession', {
  id: true,
  environment: true,
  title: true,
  metadata: true,
  dedupeKey: true,
  events: true,
  documents: true,
});

export const SESSION_OWNER: OptionTable = optionTable<SessionOwner>(
  'owner',
  { userId: true, appName: true },
  { user: 'userId', app: 'appName' },
);

export const AGENT_REFERENCE: OptionTable = optionTable<{
  readonly id: string;
  readonly version?: number;
}>('agent', { id: true, version: true }, { agentId: 'id', agent_id: 'id' });

/** A session as of the time of the call. Stream from `lastSeq` to continue without a gap. */
export interface ManagedSession {
  readonly id: string;
  /** Distinguishes the session from a deleted one with the same id. Event ids derive from it. */
  readonly uid: string;
  readonly agentId: string;
  /** The version the session started with. It does not change. */
  readonly agentVersion: number;
  readonly owner: { readonly appName: string; readonly userId: string };
  readonly status: ManagedStatus;
  /** The status among those of every session. Unlike `status`, it tells a session that waits for an answer from an idle one. */
  readonly sessionStatus: SessionStatus;
  /** The number of calls that wait for an answer. */
  readonly pendingCount: number;
  /** What the call that waits longest needs. Missing: no call waits. */
  readonly waitingFor?: PendingCall['needs'];
  readonly environment?: SessionEnvironment;
  readonly title?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly lastSeq: Seq;
}

/** One page of a listing. */
export interface Page<T> {
  readonly data: readonly T[];
  /** Pass it as `after` to read the next page. Missing on the last page. */
  readonly next?: string;
}

/** Selects a page. Default: the first. A `limit` out of range throws an InvalidInputError. */
export interface PageOptions {
  /** 1 to 1,000. Default: 20. */
  readonly limit?: number;
  readonly after?: string;
}

/** The result of sending an event. */
export interface SentEvent {
  /** Its number in the session's inbox. */
  readonly inputSeq: number;
  /** True if the event had already been accepted, and nothing was added. */
  readonly duplicate: boolean;
  /** For a message: the invocation it starts. */
  readonly invocationId?: string;
}

/** The log ended because the session was deleted. This event is not in the log; `seq` is that of the last log event. */
export interface SessionDeleted {
  readonly type: 'session.deleted';
  readonly seq: Seq;
}

/** What `streamLog` yields: log events, partial answers if requested, and the end of a deleted session. */
export type StreamedLogEvent = LogEvent | PartialEvent | SessionDeleted;

/** What is streamed, and when the stream ends. */
export interface StreamOptions {
  readonly signal?: AbortSignal;
  /** Also yields partial answers while they are generated. Default: false. */
  readonly partials?: boolean;
  /** Waits for more events at the end of the log. Default: true. */
  readonly follow?: boolean;
}

/**
 * Runs agents as durable sessions. Each operation on a session is an input of the session's net and is durable when the
 * promise resolves. Its effects appear in the log.
 */
export interface ManagedRuntime extends AsyncDisposable {
  readonly durability: Durability;
  /** Runs the sessions, with those that a program makes. It closes with the managed runtime that opened it. */
  readonly runtime: Runtime;

  /**
   * Stores a definition, in snake case or camel case, as version 1 of a new agent. If `id` is given and an agent with
   * this id exists, that agent is returned unchanged.
   * @throws InvalidInputError if the definition is invalid
   * @throws MissingServiceError if the definition needs a service that this runtime does not have
   */
  create(definition: unknown, options?: { readonly id?: string }): Promise<DefinedAgent>;
  /**
   * Returns the newest version, or the given one.
   * @throws AgentNotFoundError if the agent or the version does not exist
   */
  getAgent(id: string, options?: { readonly version?: number }): Promise<ManagedAgent>;
  /**
   * Returns the agent that new sessions of this version run, with its net. A definition is compiled.
   * @throws AgentNotFoundError if the agent or the version does not exist
   * @throws UnknownAgentError if an agent from code is not one of this program
   * @throws InvalidInputError if the program runs another version of an agent from code
   * @throws MissingServiceError if the definition needs a service that this runtime does not have
   */
  loadAgent(id: string, options?: { readonly version?: number }): Promise<Agent>;
  /** Lists agents, newest first. Default: without archived agents. */
  listAgents(
    options?: PageOptions & { readonly includeArchived?: boolean },
  ): Promise<Page<ManagedAgent>>;
  /**
   * Lists all versions of an agent, newest first.
   * @throws AgentNotFoundError if the agent does not exist
   */
  agentVersions(id: string, options?: PageOptions): Promise<Page<ManagedAgent>>;
  /**
   * Stores the next version, if the agent is still at `version`. Running sessions keep theirs. An unchanged definition
   * creates no new version.
   * @throws AgentVersionConflictError if the agent is at another version
   * @throws AgentFromCodeError if the program defines the agent
   * @throws AgentArchivedError if the agent is archived
   * @throws AgentNotFoundError if the agent does not exist
   * @throws InvalidInputError if the definition is invalid
   */
  updateAgent(
    id: string,
    definition: unknown,
    options: { readonly version: number },
  ): Promise<DefinedAgent>;
  /**
   * Makes the agent read-only permanently. Idempotent. An agent from code that this program no longer has can be
   * archived: it is active again when a program runs it.
   * @throws AgentFromCodeError if the program defines the agent
   */
  archiveAgent(id: string): Promise<ManagedAgent>;

  /**
   * Starts a session.
   * @throws AgentNotFoundError if the agent or the version does not exist
   * @throws AgentArchivedError if the agent is archived
   * @throws InvalidInputError if the environment cannot be provided or an option is invalid
   */
  startSession(
    agent: string | { readonly id: string; readonly version?: number },
    owner: SessionOwner,
    options?: StartOptions,
  ): Promise<ManagedSession>;
  /** @throws ManagedSessionNotFoundError if the session does not exist */
  getSession(session: SessionRef): Promise<ManagedSession>;
  /**
   * Lists the sessions of the agents that this session's agent called, in order of the calls. Each can be read,
   * streamed, answered and stopped like any other session, by its own id.
   * @throws ManagedSessionNotFoundError if the session does not exist
   */
  threads(session: SessionRef): Promise<readonly ManagedSession[]>;
  /**
   * Lists sessions, newest first: those that `startSession` started, and those that a program made.
   * @throws InvalidInputError when `after` is not the `next` of a page
   */
  listSessions(
    options?: PageOptions & {
      readonly agentId?: string;
      readonly userId?: string;
      readonly includeArchived?: boolean;
    },
  ): Promise<Page<ManagedSession>>;
  /** Changes title and metadata. Fields that are not given do not change. */
  updateSession(
    session: SessionRef,
    change: { readonly title?: string; readonly metadata?: Readonly<Record<string, string>> },
  ): Promise<ManagedSession>;

  /**
   * Sends an event, in snake case or camel case, to the session. The event is durable when the promise resolves.
   * @throws InvalidInputError if the event is invalid
   * @throws IllegalTransitionError if the session's status does not allow it
   * @throws AlreadyAnsweredError if the call was already answered
   * @throws CallNotPendingError if the call does not wait for an answer
   */
  sendEvent(
    session: SessionRef,
    event: UserEvent | Json,
    options?: { readonly dedupeKey?: string },
  ): Promise<SentEvent>;
  /** Creates a batch of events that are accepted together. */
  eventBatch(): EventBatch;
  /**
   * Yields the events after `fromSeq`, and then new events as they occur, without gaps or repetitions. `fromSeq` 0
   * starts at the first event. Default: new events only. Ends with `status.archived` or `status.deleted`.
   * @throws SubscriberTooSlowError if the reader falls behind by more than `maxBuffered` events
   */
  streamEvents(
    session: SessionRef,
    fromSeq?: Seq,
    options?: Pick<StreamOptions, 'signal' | 'follow'>,
  ): AsyncIterable<SessionEvent>;
  /** Yields the canonical log, from which all other event formats are derived. */
  streamLog(
    session: SessionRef,
    fromSeq?: Seq,
    options?: StreamOptions,
  ): AsyncIterable<StreamedLogEvent>;
  /** Lists the calls that wait for an answer. */
  pending(session: SessionRef): Promise<readonly PendingCall[]>;
  /**
   * Lists the calls of all sessions that wait for an answer, the longest waiting first. `agent` is an agent's id.
   * @throws InvalidInputError if `limit` or `after` is invalid
   */
  pendingCalls(options?: PendingCallPageOptions): Promise<PendingCallPage>;
  /** Yields the calls of all sessions that wait, then every change. `agent` is an agent's id. See `Runtime`. */
  watchPendingCalls(options?: WatchPendingOptions): AsyncIterable<PendingCallChange>;
  /**
   * Yields the sessions that are created, change or are deleted, also in title and metadata. `agent` is an agent's id.
   * See `Runtime`.
   * @throws InvalidInputError if `after` is not a cursor of this store
   */
  sessionChanges(options?: SessionChangesOptions): AsyncIterable<SessionChangeEvent>;
  /**
   * Sums tokens and model calls of all sessions. `agent` is an agent's id, for all its versions. See `Runtime`.
   * @throws InvalidInputError if `by`, `from` or `to` is invalid
   */
  usageTotals(options?: UsageOptions): Promise<readonly UsageTotal[]>;
  /** Tokens of all turns of a session so far; of a session that was read, up to its `lastSeq`. */
  usage(session: SessionRef): Promise<Usage>;

  status(session: SessionRef): Promise<ManagedStatus>;
  /** Stops the running turn, or only that of `invocationId`. See `Session.interrupt`. */
  interrupt(session: SessionRef, options?: InterruptOptions): Promise<void>;
  /** Pauses the session at the next settled step, until it is resumed. Resolves when the session is paused. */
  pause(session: SessionRef): Promise<void>;
  /** Resumes a paused session, or retries the turn that failed. */
  resume(session: SessionRef): Promise<void>;
  /** Stops the running turn and closes the session permanently. Its log stays readable. */
  archive(session: SessionRef): Promise<void>;
  /** Ends an idle session as completed. */
  complete(session: SessionRef): Promise<void>;
  /**
   * Deletes the session and its data. Streams end with a last event. Returns false if the session did not exist, or is not
   * `unchanged`.
   */
  deleteSession(session: SessionRef, options?: DeleteSessionOptions): Promise<boolean>;
  /**
   * Creates a session whose log is the first `upTo` events of this one.
   * @throws InvalidInputError if `upTo` is not at a step boundary, there is no record `atRecord`, or both are given
   */
  fork(session: SessionRef, options?: ForkOptions): Promise<ManagedSession>;
  /**
   * Takes conversation and state back to before an invocation. The log keeps everything and records the rewind. A
   * repeated call with the same `dedupeKey` has no further effect.
   */
  rewind(
    session: SessionRef,
    options: { readonly beforeInvocationId: string; readonly dedupeKey?: string },
  ): Promise<void>;
  /**
   * Reads what a session, or a thread of one, did: its records, markings, net and model requests.
   * @throws ManagedSessionNotFoundError
   */
  inspect(session: SessionRef): Promise<SessionInspection>;

  close(): Promise<void>;
}
