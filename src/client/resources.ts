import type { Schemas } from './generated.ts';

/** Whether a tool is offered to the model, and whether its calls need approval. */
export type ToolPermission = Schemas['ToolPermission'];

/** Permissions of an agent's tools: a default, and overrides by tool name. */
export type AgentPermissions = Schemas['AgentPermissions'];

/** A tool of an agent. */
export type AgentTool = Schemas['AgentTool'];

/** Definition of a new agent. */
export type AgentParams = Schemas['AgentParams'];

/**
 * Changes to an agent. Omitted fields keep their value. `version` is the version that the change is based on; the
 * server rejects the change if the agent has a newer one.
 */
export type AgentChange = Schemas['AgentChange'];

/** One stored version of an agent. Times are ISO 8601. `archived_at` is null while new sessions may use the agent. */
export type Agent = Schemas['Agent'];

/** Options of a new session: its agent, and the environment its tools run in. Default: the server's own environment. */
export type SessionParams = Schemas['SessionParams'];

/** Changes to a session. Omitted fields keep their value; a metadata key set to null is removed. */
export type SessionChange = Schemas['SessionChange'];

/** A session at the time of the request. Times are ISO 8601. Later changes come as events. */
export type Session = Schemas['Session'];

/** Where the tools of sessions run: `cloud` on the server, `self_hosted` on a worker that takes sessions from it. */
export type Environment = Schemas['Environment'];

/** Definition of a new environment. Default type: `cloud`. The type cannot change later. */
export type EnvironmentParams = Schemas['EnvironmentParams'];

/** One record of the journal of a session: what it did at once. Times are epoch milliseconds. */
export type SessionRecord = Schemas['SessionRecord'];

/** The tokens of a session and its effects in flight, after a record. */
export type SessionMarking = Schemas['SessionMarking'];

/** The net of a session's agent as data, with positions for a drawing. */
export type SessionNet = Schemas['SessionNet'];

/** The request of a model call, rebuilt from the journal. */
export type SessionModelRequest = Schemas['SessionModelRequest'];

/** A position of the log that `fork` accepts as `upToSeq`. */
export type SessionForkPoint = Schemas['ForkPoint'];

/**
 * How much of the values an inspection shows: only numbers of tokens, JSON with types and lengths in place of the
 * leaves, or the values.
 */
export type ValueDetail = 'none' | 'shape' | 'full';

/** A tool call that waits for an approval or a result. Answer it with an event to its session. Times are RFC 3339. */
export type PendingCall = Schemas['PendingCall'];

/** A change of the pending calls. */
export type PendingCallChange = Schemas['PendingCallChange'];

/** A change in the list of sessions. `sessions.current`: every earlier change has been sent. */
export type SessionListChange = Schemas['SessionListChange'];

/** The usage of one group. It has the members that the query groups by. */
export type UsageTotal = Schemas['UsageTotal'];

/** A quota of the workspace, and what is used of it. Times are RFC 3339. */
export type Quota = Schemas['Quota'];

/** Definition of a new schedule: `cron` or `every_ms`, an agent and a message. */
export type ScheduleParams = Schemas['ScheduleParams'];

/** A schedule, which starts sessions or sends messages to one. Times are RFC 3339. */
export type Schedule = Schemas['Schedule'];

/** A run of a schedule, or the due times that were missed. Times are RFC 3339. */
export type ScheduleRun = Schemas['ScheduleRun'];

/** One page of a list. Pass `next_page` as `page` to get the next one; null on the last page. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly next_page: string | null;
}

/**
 * Query of a list: up to `limit` entries (1 to 1,000; default: 20), starting at the cursor `page`, with the filters
 * that the list supports.
 */
export type PageParams = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
> & { readonly limit?: number; readonly page?: string };
