import { optionTable } from '../../core/index.ts';
import type {
  Json,
  LogEvent,
  OptionTable,
  PartialEvent,
  Seq,
  Timestamp,
  Usage,
} from '../../core/index.ts';
import type { PendingCall } from '../../runtime/index.ts';
import type { DocumentChange, DocumentResult, Durability } from '../../store/index.ts';
import type { ManagedAgentDef } from './agent-def.ts';
import type { SessionEvent } from './session-event.ts';
import type { ManagedStatus } from './session-status.ts';
import type { UserDefineOutcomeEvent, UserEvent, UserMessageEvent } from './user-event.ts';

/** A stored agent definition. */
export interface ManagedAgent {
  readonly id: string;
  /** 1, and one more for each change. */
  readonly version: number;
  readonly definition: ManagedAgentDef;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly archivedAt?: Timestamp;
}

/** Whose session it is. Equal session ids of different users do not occur: ids are made here. */
export interface SessionOwner {
  readonly userId: string;
  /** The runtime's own app when missing; another one is refused. */
  readonly appName?: string;
}

/** Where a session's tools run. What cannot be honoured is refused when the session starts. */
export interface SessionEnvironment {
  /** Variables for bash and code execution. */
  readonly env?: Readonly<Record<string, string>>;
  /** The working folder of the built-in tools, below the sandbox's root. */
  readonly workingFolder?: string;
  /** The client runs the built-in tools: their calls wait for `user.tool_result`. */
  readonly selfHosted?: boolean;
}

/** How a session begins: where its tools run, what it is called, and how a start that is repeated is recognised. */
export interface StartOptions {
  readonly environment?: SessionEnvironment;
  readonly title?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Asked again with the same key, it is the same session. */
  readonly dedupeKey?: string;
  /** What the session begins with, in order. The session is created with all of it, or not at all. */
  readonly events?: readonly (UserMessageEvent | UserDefineOutcomeEvent)[];
  /** Documents that are written together with the session. */
  readonly documents?: (sessionId: string) => readonly DocumentChange[];
}

/** How a session is copied. */
export interface ForkOptions {
  /** The last event of the copy. Default: all events. */
  readonly upTo?: Seq;
  /** The id of the copy. Asked again with the same id, it is the same copy. Default: a new id. */
  readonly id?: string;
  /** Documents that are written together with the copy's record. */
  readonly documents?: (sessionId: string) => readonly DocumentChange[];
}

/** What an event of a batch is about. */
export interface AddedEvent {
  /** The invocation that a message begins or an interrupt stops. */
  readonly invocationId?: string;
  /** The call that an answer is for. */
  readonly callId?: string;
}

/** Events of one or several sessions that are accepted together: all of them or, when one is refused, none. */
export interface EventBatch {
  /** Checks an event and adds it. @throws as `ManagedRuntime.sendEvent` */
  add(
    sessionId: string,
    event: UserEvent | Json,
    options?: { readonly dedupeKey?: string },
  ): Promise<AddedEvent>;
  /**
   * Writes all events, in their order, with these documents, in one transaction. When a document is at another version
   * than its change names, nothing is written.
   * @throws AlreadyAnsweredError, SessionNotFoundError: nothing was written
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

/** A session as it was when asked; `lastSeq` says where to stream on from without a gap. */
export interface ManagedSession {
  readonly id: string;
  readonly agentId: string;
  /** The version it began with, and keeps. */
  readonly agentVersion: number;
  readonly owner: { readonly appName: string; readonly userId: string };
  readonly status: ManagedStatus;
  readonly environment?: SessionEnvironment;
  readonly title?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly lastSeq: Seq;
}

/** A piece of a listing, with the mark of the next one. */
export interface Page<T> {
  readonly data: readonly T[];
  /** Give it as `after` to read on; missing at the end. */
  readonly next?: string;
}

/** Which piece of a listing is read; from its beginning unless said. A limit out of range is an InvalidInputError. */
export interface PageOptions {
  /** 1 to 1,000; 20 unless said. */
  readonly limit?: number;
  readonly after?: string;
}

/** What became of an event that was sent. */
export interface SentEvent {
  /** Its number in the session's inbox. */
  readonly inputSeq: number;
  /** True when it was there already: nothing was added. */
  readonly duplicate: boolean;
  /** The invocation it begins, for a message. */
  readonly invocationId?: string;
}

/** The log ended because the session was deleted. It is in no log: `seq` repeats the last number there was. */
export interface SessionDeleted {
  readonly type: 'session.deleted';
  readonly seq: Seq;
}

/**
 * What `streamLog` brings: entries of the log, pieces of answers where they were asked for, and the end of a deleted
 * session.
 */
export type StreamedLogEvent = LogEvent | PartialEvent | SessionDeleted;

/** What of a log is shown, and when the reading ends. */
export interface StreamOptions {
  readonly signal?: AbortSignal;
  /** Shows pieces of answers too, as they are made. */
  readonly partials?: boolean;
  /** Waits for more at the end of the log; true unless said. */
  readonly follow?: boolean;
}

/**
 * Operates agents as durable sessions. Everything it does to a session is an input of the session's net, durable when
 * the promise resolves; what comes of it stands in the log.
 */
export interface ManagedRuntime extends AsyncDisposable {
  readonly durability: Durability;

  /**
   * Stores a definition of either spelling as version 1, under an id made for it unless one is given: the agent that
   * has that id already stays as it is.
   * @throws InvalidInputError, MissingServiceError
   */
  create(definition: unknown, options?: { readonly id?: string }): Promise<ManagedAgent>;
  /** The newest version unless one is named. @throws AgentNotFoundError */
  getAgent(id: string, options?: { readonly version?: number }): Promise<ManagedAgent>;
  /** Newest first; without archived ones unless asked for. */
  listAgents(
    options?: PageOptions & { readonly includeArchived?: boolean },
  ): Promise<Page<ManagedAgent>>;
  /** Every version, newest first. @throws AgentNotFoundError */
  agentVersions(id: string, options?: PageOptions): Promise<Page<ManagedAgent>>;
  /**
   * Stores the next version, if the agent still is at `version`. Sessions that run keep theirs. A definition that
   * changes nothing is no new version.
   * @throws AgentVersionConflictError, AgentArchivedError, AgentNotFoundError, InvalidInputError
   */
  updateAgent(
    id: string,
    definition: unknown,
    options: { readonly version: number },
  ): Promise<ManagedAgent>;
  /** Makes it read-only for ever; twice is once. */
  archiveAgent(id: string): Promise<ManagedAgent>;

  /** @throws AgentNotFoundError, AgentArchivedError, InvalidInputError when the environment cannot be honoured */
  startSession(
    agent: string | { readonly id: string; readonly version?: number },
    owner: SessionOwner,
    options?: StartOptions,
  ): Promise<ManagedSession>;
  /** @throws ManagedSessionNotFoundError */
  getSession(sessionId: string): Promise<ManagedSession>;
  /**
   * The sessions in which the agents of this one were called, in the order of the calls. Each is read, streamed,
   * answered and stopped like any other session, by its own id.
   * @throws ManagedSessionNotFoundError
   */
  threads(sessionId: string): Promise<readonly ManagedSession[]>;
  /** Newest first. */
  listSessions(
    options?: PageOptions & {
      readonly agentId?: string;
      readonly userId?: string;
      readonly includeArchived?: boolean;
    },
  ): Promise<Page<ManagedSession>>;
  /** Changes title and metadata; what is not named stays. */
  updateSession(
    sessionId: string,
    change: { readonly title?: string; readonly metadata?: Readonly<Record<string, string>> },
  ): Promise<ManagedSession>;

  /**
   * Puts an event of either spelling before the session; durable when it resolves.
   * @throws InvalidInputError, IllegalTransitionError, AlreadyAnsweredError, CallNotPendingError
   */
  sendEvent(
    sessionId: string,
    event: UserEvent | Json,
    options?: { readonly dedupeKey?: string },
  ): Promise<SentEvent>;
  /** Several events that are accepted together. */
  eventBatch(): EventBatch;
  /**
   * Events after `fromSeq` (0: all; what happens from now on when missing), then what happens, without a gap or a
   * repetition. Ends with `status.archived` or `status.deleted`. @throws SubscriberTooSlowError
   */
  streamEvents(
    sessionId: string,
    fromSeq?: Seq,
    options?: Pick<StreamOptions, 'signal' | 'follow'>,
  ): AsyncIterable<SessionEvent>;
  /** The same as the canonical log, from which every face is projected. */
  streamLog(
    sessionId: string,
    fromSeq?: Seq,
    options?: StreamOptions,
  ): AsyncIterable<StreamedLogEvent>;
  /** The calls that wait for someone. */
  pending(sessionId: string): Promise<readonly PendingCall[]>;
  /** Tokens of all turns so far. */
  usage(sessionId: string): Promise<Usage>;

  status(sessionId: string): Promise<ManagedStatus>;
  interrupt(sessionId: string): Promise<void>;
  /** Holds the session at the next settled step, until it is resumed. Resolves when it is held. */
  pause(sessionId: string): Promise<void>;
  /** Goes on: with what was paused, or with the turn that failed. */
  resume(sessionId: string): Promise<void>;
  /** Stops what runs and closes the session for ever; its log stays readable. */
  archive(sessionId: string): Promise<void>;
  /** Ends an idle session as done. */
  complete(sessionId: string): Promise<void>;
  /** Removes the session and its data; streams end with a last event. False when there was none. */
  deleteSession(sessionId: string): Promise<boolean>;
  /** A new session whose log is the first `upTo` events of this one. */
  fork(sessionId: string, options?: ForkOptions): Promise<ManagedSession>;
  /**
   * Takes conversation and state back to before an invocation; the log keeps everything and says so. Asked again with
   * the same `dedupeKey`, it is done once.
   */
  rewind(
    sessionId: string,
    options: { readonly beforeInvocationId: string; readonly dedupeKey?: string },
  ): Promise<void>;

  close(): Promise<void>;
}
