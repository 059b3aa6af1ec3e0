import type { ArtifactService } from '../tools/index.ts';
import type { Agent } from '../agents/index.ts';
import { optionTable } from '../core/index.ts';
import type { OptionTable, QuotaStatus } from '../core/index.ts';
import type {
  SessionOrder,
  SessionRow,
  Store,
  StoredStatus,
  UsageDimension,
  UsageTotal,
} from '../store/index.ts';
import type { SessionChangeEvent, SessionChangesOptions } from './listing/session-changes.ts';
import type { PendingCallPage, PendingCallPageOptions } from './listing/pending-call-listing.ts';
import type { SessionInspection } from './inspection/session-inspection.ts';
import type { PendingCallChange, WatchPendingOptions } from './listing/watch-pending-calls.ts';
import type { Schedules } from './schedules/schedules.ts';
import type { InputBatch } from './session/input-batch.ts';
import type { AgentSource } from './sources/agent-source.ts';
import type { Session, SessionOptions } from './session/session.ts';

/** Selects and groups usage. */
export interface UsageOptions {
  /** Default: one total. */
  readonly by?: readonly UsageDimension[];
  /** The first UTC day, as `YYYY-MM-DD`. Default: the first day there is. */
  readonly from?: string;
  /** The last UTC day, as `YYYY-MM-DD`. Default: the last day there is. */
  readonly to?: string;
  readonly user?: string;
  readonly agent?: string;
}

/** Selects sessions, in an order. */
export type SessionListOptions = SessionOrder & {
  readonly user?: string;
  readonly agent?: string;
  readonly parent?: string;
  readonly status?: StoredStatus;
  /** Default: `descending`, the newest first. */
  readonly direction?: 'ascending' | 'descending';
  /** An integer of at least 0. Default: no limit. */
  readonly limit?: number;
};

/** The options of `runtime.sessions`. */
export const SESSION_LIST_OPTIONS: OptionTable = optionTable<SessionListOptions>(
  'sessions',
  {
    user: true,
    agent: true,
    parent: true,
    status: true,
    order: true,
    direction: true,
    limit: true,
    after: true,
  },
  { userId: 'user', agentName: 'agent', page: 'after' },
);

/** The options of `runtime.usage`. */
export const USAGE_OPTIONS: OptionTable = optionTable<UsageOptions>(
  'usage',
  { by: true, from: true, to: true, user: true, agent: true },
  { groupBy: 'by', since: 'from', until: 'to', userId: 'user' },
);

/** Selects quotas. */
export interface QuotaOptions {
  readonly user?: string;
  /** Only those of the app, without a read for each user. Not together with `user`. */
  readonly scope?: 'app';
}

/** The options of `runtime.quotas`. */
export const QUOTA_OPTIONS: OptionTable = optionTable<QuotaOptions>(
  'quotas',
  { user: true, scope: true },
  { userId: 'user' },
);

/** The options of `runtime.drain`. */
export interface DrainOptions {
  /** How long running effects may take, in milliseconds: an integer of at least 0. Default: 30,000. */
  readonly timeoutMs?: number;
}

/** The options of `runtime.drain`. */
export const DRAIN_OPTIONS: OptionTable = optionTable<DrainOptions>('drain', { timeoutMs: true });

/**
 * Runs sessions over a store. Several runtimes may share a store, in one process or many. Each session has one owner at
 * a time; every runtime can read it and send to it.
 */
export interface Runtime extends AsyncDisposable {
  readonly app: string;
  /** The agents that are known when the runtime opens, by name. */
  readonly agents: ReadonlyMap<string, Agent>;
  /** The names of those that were passed in `agents`, or belong to a source there: without the agents that only they call. */
  readonly agentNames: readonly string[];
  /** The sources that were passed in `agents`. */
  readonly sources: readonly AgentSource[];
  readonly store: Store;
  /** The artifacts of its tools. Undefined: the runtime has none. */
  readonly artifacts?: ArtifactService | undefined;
  /** Sessions that are started, or get messages, by a cron pattern or at an interval. */
  readonly schedules: Schedules;
  /**
   * Opens the session with this id and resumes its work, or creates it.
   * @throws InvalidInputError when the session is new and its id has the form of a called agent's session id, or is `.` or
   *   `..`, which no URL can name
   * @throws UnknownAgentError when the runtime does not have the agent
   * @throws AgentMismatchError when the session belongs to another agent
   * @throws NetChangedError when the agent has changed and the session's tokens do not fit it
   * @throws SessionQuarantinedError when the session is quarantined
   */
  session(id: string, options?: SessionOptions): Promise<Session>;
  /**
   * Opens the session with this id, quarantined or not. Undefined when there is none.
   * @throws UnknownAgentError when the runtime does not have its agent
   */
  find(id: string, options?: { readonly user?: string }): Promise<Session | undefined>;
  /**
   * Reads what the session with this id did, and runs nothing. Of a session whose agent the runtime does not have, the
   * net and the requests of model calls cannot be read. Undefined when there is no session.
   */
  inspect(id: string, options?: { readonly user?: string }): Promise<SessionInspection | undefined>;
  /** Creates a batch of inputs that are written together: all of them or none. */
  batch(): InputBatch;
  /**
   * Lists sessions, last changed first, or in another order. Sessions of called agents are left out. With `parent`,
   * lists the sessions of the agents that this session called instead.
   * @throws InvalidInputError for an unknown option, an unknown word, or an invalid `limit`
   * @throws SessionNotFoundError when the order is `changed` and the session of `after` does not exist any more
   */
  sessions(filter?: SessionListOptions): Promise<readonly SessionRow[]>;
  /**
   * Lists the calls of all sessions that wait for an approval or a result, the longest waiting first. Calls of called
   * agents are included. Reads an index, so its cost does not depend on the number of sessions.
   * @throws InvalidInputError when `limit` or `after` is invalid
   */
  pending(filter?: PendingCallPageOptions): Promise<PendingCallPage>;
  /**
   * Yields the calls of all sessions that wait, then every call that begins to wait, changes or stops to wait, in all
   * processes that share the store. No change is lost, however slow the reader is: of several changes of a call, a slow
   * reader gets the last. Ends when the runtime closes. To resume after a break, begin again.
   */
  watchPending(filter?: WatchPendingOptions): AsyncIterable<PendingCallChange>;
  /**
   * Yields the sessions that are created, change or are deleted, in all processes that share the store. A session
   * changes with each committed step. No session's last change is lost, however slow the reader is: of several changes,
   * a slow reader gets the last. Ends when the runtime closes. To resume, pass the `cursor` of the last change as
   * `after`.
   * @throws InvalidInputError when `after` is not a cursor of this store: list the sessions again
   */
  changes(options?: SessionChangesOptions): AsyncIterable<SessionChangeEvent>;
  /**
   * Sums the tokens and model calls of committed answers, one entry per group that has any. Each answer counts once: it
   * stays counted when its session is rewound or deleted, and a fork does not count the answers that it copies.
   * @throws InvalidInputError when `by`, `from` or `to` is invalid
   */
  usage(query?: UsageOptions): Promise<readonly UsageTotal[]>;
  /**
   * Lists the quotas with what is used of each. Without a user: those of the app, of every user that the option `quotas`
   * names, and of every other user that has a model call of this month or uses something.
   * @throws InvalidInputError when `scope` is invalid
   */
  quotas(options?: QuotaOptions): Promise<readonly QuotaStatus[]>;
  /**
   * Deletes a session, its data, and the sessions of the agents it called. Stops their running effects. Returns false
   * when there was no such session. With a `uid`, a session of that id with another uid stays: it was made since.
   */
  delete(id: string, options?: { readonly user?: string; readonly uid?: string }): Promise<boolean>;
  /**
   * Prepares to close while other processes share the store. Takes no more sessions and starts no more effects. Waits
   * until the running effects end, for 30 s at most, then aborts them as `close` does. Each session is given away as
   * soon as its effects have ended, at a settled step, and another process continues it. Reading goes on, and inputs
   * are accepted for other processes. A step that the store cannot commit within 10 s more is given up: another process
   * repeats it. Only `close` makes sense afterwards.
   */
  drain(options?: DrainOptions): Promise<void>;
  /**
   * Aborts running effects, waits up to 5 s for them, commits their steps and releases every session. Waits up to 10 s
   * until the inputs that were submitted before are durable, and refuses later ones with RuntimeClosedError.
   */
  close(): Promise<void>;
}
