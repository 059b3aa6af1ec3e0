import type { Content } from '../content/content.ts';
import type { EventActions } from './event-actions.ts';
import type { Event, FinishReason, NodeInfo, ProviderMetadata } from './event.ts';
import type { CallId, InvocationId, MessageId } from '../identity/ids.ts';
import type { Json, JsonObject } from '../json/json.ts';
import type { StateDelta } from '../state/state-delta.ts';
import type { StopReason } from './stop-reason.ts';
import type { Timestamp } from './timestamp.ts';
import type { Usage } from './usage.ts';

/** The number of a log event within its session: 1, 2, 3, ... without gaps. */
export type Seq = number;

/** One event of the canonical log, which lists what a session did in commit order. Every client view is a projection of it. */
export type LogEvent = { readonly seq: Seq; readonly at: Timestamp } & LogEntry;

/** A log event before the commit, without its number and time. */
export type LogEntry =
  | UserMessage
  | AgentMessage
  | ToolCall
  | ToolAttempt
  | ToolResult
  | ToolAnswered
  | ToolPending
  | TurnStarted
  | TurnWaiting
  | TurnResumed
  | TurnEnded
  | AgentRunChanged
  | ModelAttempt
  | StateChanged
  | ErrorOccurred
  | SessionRewound
  | SessionUpgraded
  | TurnRescheduled
  | SessionStatusChanged
  | OutcomeDefined
  | OutcomeEvaluated
  | OutcomeEnded
  | EventAppended;

/** The type of a log event. */
export type LogEventType = LogEntry['type'];

/** A log event of one type: `LogEventByType<'tool.result'>`. */
export type LogEventByType<T extends LogEventType> = Extract<LogEvent, { readonly type: T }>;

/** A user message arrived. It starts a turn, now or after the turns before it. */
export type UserMessage = {
  readonly type: 'user.message';
  readonly invocationId: InvocationId;
  readonly messageId: MessageId;
  readonly author: 'user';
  readonly content: Content;
  /** True if the user said it: the text is the transcript of speech. */
  readonly transcript?: true;
};

/** A complete response of a model: its text, thinking and tool calls, in order. */
export type AgentMessage = {
  readonly type: 'agent.message';
  readonly invocationId: InvocationId;
  readonly author: string;
  readonly branch?: string;
  readonly content: Content;
  readonly usage?: Usage;
  readonly finishReason?: FinishReason;
  readonly providerMetadata?: ProviderMetadata;
  readonly actions?: Partial<EventActions>;
  /** The calls in `content` that get their results from outside. */
  readonly longRunningToolIds?: readonly CallId[];
  /** The output of a workflow node, which is the input of the next nodes. */
  readonly output?: Json;
  /** The position in a workflow where it was produced. */
  readonly nodeInfo?: NodeInfo;
};

/** What a call waits for before it has a result: nothing, the approval of a person, or a result from outside. */
export type ToolCallNeeds = 'nothing' | 'approval' | 'result';

/** Petrichor accepted a tool call of the model. The `content` of the preceding agent message has the same call. */
export type ToolCall = {
  readonly type: 'tool.call';
  readonly invocationId: InvocationId;
  readonly author: string;
  readonly branch?: string;
  readonly callId: CallId;
  readonly name: string;
  readonly args: JsonObject;
  readonly needs: ToolCallNeeds;
  /** A fingerprint of the name and arguments. An approval is bound to it. */
  readonly fingerprint?: string;
  /** The origin of the tool, for an agent that is defined as data. */
  readonly origin?: ToolOrigin;
  /** The decision of the agent's permission policy: run, ask a person, or reject. */
  readonly permission?: 'allow' | 'ask' | 'deny';
  readonly nodeInfo?: NodeInfo;
};

/** `builtin`: a tool of the runtime. `custom`: a tool whose calls the client answers. `mcp`: a tool of an MCP server. */
export type ToolOrigin =
  | { readonly kind: 'builtin' | 'custom' }
  | { readonly kind: 'mcp'; readonly server: string };

/** A tool runs again, because its process died during the call, or because the call failed and is retried. */
export type ToolAttempt = {
  readonly type: 'tool.attempt';
  readonly invocationId: InvocationId;
  readonly callId: CallId;
  readonly name: string;
  /** The number of the attempt; 2 for the first repetition. */
  readonly attempt: number;
  readonly reason: 'crash' | 'retry';
};

/** The outcome of a call. The model receives every outcome except `ok` as an error. */
export type ToolOutcome =
  /** The call has a result. */
  | 'ok'
  /**
   * The tool threw, or too many calls were in one answer. The `error.code` of the response has the reason.
   * @remedy Correct the arguments or the tool.
   */
  | 'error'
  /**
   * The tool, or the answer to a pending call, did not come in time.
   * @remedy Raise `timeoutMs` of the tool, or make the tool faster.
   */
  | 'timeout'
  /**
   * The process died during the call, or the tool threw `OutcomeUnknownError`, so the effect may or may not have
   * happened.
   * @remedy Check whether the effect happened before you repeat the call.
   */
  | 'unknown'
  /**
   * A person or the permission policy denied the call.
   * @remedy Do not repeat the call unchanged. Ask the user.
   */
  | 'denied'
  /**
   * The call was stopped or did not run, because its turn ended, was interrupted or was transferred.
   * @remedy Repeat the call in a later turn, if it is still needed.
   */
  | 'cancelled'
  /**
   * The agent has no tool with this name, or it is not available now.
   * @remedy Call one of the tools that the message lists. Add the tool to the agent, if it is missing.
   */
  | 'not_found'
  /**
   * The arguments do not match the schema of the tool.
   * @remedy Correct the arguments as the message explains.
   */
  | 'invalid';

/** The result of a call. Each call has exactly one. */
export type ToolResult = {
  readonly type: 'tool.result';
  readonly invocationId: InvocationId;
  readonly author: string;
  readonly branch?: string;
  readonly callId: CallId;
  readonly name: string;
  readonly outcome: ToolOutcome;
  readonly response: Json;
  /** The duration of the last attempt, in milliseconds. */
  readonly durationMs?: number;
  readonly actions?: Partial<EventActions>;
  readonly nodeInfo?: NodeInfo;
};

/** A call that ran is pending, that is, it waits for a result from outside; or the request of a pending call changed. */
export type ToolPending = {
  readonly type: 'tool.pending';
  readonly invocationId: InvocationId;
  readonly author: string;
  readonly branch?: string;
  readonly callId: CallId;
  readonly name: string;
  /** The request to the outside, or the progress so far. */
  readonly request?: Json;
  readonly nodeInfo?: NodeInfo;
};

/** A pending call was answered from outside. */
export type ToolAnswered = {
  readonly type: 'tool.answered';
  readonly invocationId: InvocationId;
  readonly callId: CallId;
  readonly decision: 'approved' | 'denied' | 'answered';
  readonly message?: string;
};

/** A turn started with its message. A session runs one turn at a time; later messages wait. */
export type TurnStarted = { readonly type: 'turn.started'; readonly invocationId: InvocationId };

/** The turn waits until these calls are answered from outside. */
export type TurnWaiting = {
  readonly type: 'turn.waiting';
  readonly invocationId: InvocationId;
  readonly stopReason: 'requires_action';
  readonly callIds: readonly CallId[];
};

/** A turn that waited continues. */
export type TurnResumed = { readonly type: 'turn.resumed'; readonly invocationId: InvocationId };

/** A turn ended. A turn that waits has `turn.waiting` instead. An interrupt of a turn that had ended also writes this event. */
export type TurnEnded = {
  readonly type: 'turn.ended';
  readonly invocationId: InvocationId;
  readonly stopReason: StopReason;
  /** The usage of all model calls of the turn. */
  readonly usage?: Usage;
};

/**
 * An agent beside the first agent of the session begins or ends its part of a turn: a sub-agent, or an agent that is called
 * as a tool. A transfer to a sub-agent leaves the transferring agent open; a transfer to the parent or to a peer ends it.
 * `node.…`: the same for a function or a list of a workflow. The end of the turn ends all that are open, without an event.
 * Sessions of earlier versions do not have these events.
 */
export type AgentRunChanged = {
  readonly type: 'agent.started' | 'agent.ended' | 'node.started' | 'node.ended';
  readonly invocationId: InvocationId;
  /** The name of the agent or the node. */
  readonly author: string;
  readonly branch?: string;
  /** The agent that it works for. Absent: the first agent of the session. */
  readonly parent?: string;
  /** The call that runs it, for an agent that is called as a tool. */
  readonly callId?: CallId;
  /** The position in a workflow. An end has it only for a node that is not an agent. */
  readonly nodeInfo?: NodeInfo;
};

/** A model is called again, because its process died during the call, or because the call failed with a transient error. */
export type ModelAttempt = {
  readonly type: 'model.attempt';
  readonly invocationId: InvocationId;
  /** The number of the attempt; 2 for the first repetition. */
  readonly attempt: number;
  readonly reason: 'crash' | 'retry';
  readonly error?: LoggedError;
};

/**
 * State changed without the actions of an event, or merging such actions gave other values. `delta` has the current
 * values.
 */
export type StateChanged = {
  readonly type: 'state.changed';
  readonly delta: StateDelta;
  /** The removed keys. */
  readonly removed?: readonly string[];
  /** The agent that wrote it, or `user` for a change that came with a message. Absent if there is no author. */
  readonly author?: string;
  readonly branch?: string;
  readonly invocationId?: InvocationId;
};

/** An error in the log: `code` for programs and `message` for people, without a stack. */
export type LoggedError = { readonly code: string; readonly message: string };

/** An error occurred that is not the result of a tool call. */
export type ErrorOccurred = {
  readonly type: 'error';
  readonly invocationId?: InvocationId;
  /** The agent whose model failed. */
  readonly author?: string;
  readonly branch?: string;
} & LoggedError;

/** A model call failed with a transient error. The turn waits and calls the model again. */
export type TurnRescheduled = {
  readonly type: 'turn.rescheduled';
  readonly invocationId: InvocationId;
  /** The number of the failed attempt, from 1. */
  readonly attempt: number;
  /** The delay before the next attempt, in milliseconds from the time of this event. */
  readonly retryInMs: number;
  readonly error: LoggedError;
};

/** A session was paused, resumed, completed or archived. */
export type SessionStatusChanged = {
  readonly type: 'session.paused' | 'session.resumed' | 'session.completed' | 'session.archived';
};

/** An outcome was defined for the session. From now on turns are graded by it. */
export type OutcomeDefined = {
  readonly type: 'outcome.defined';
  readonly outcomeId: string;
  readonly description: string;
  readonly rubric?: string;
  readonly maxIterations: number;
};

/** An iteration was graded. */
export type OutcomeEvaluated = {
  readonly type: 'outcome.evaluated';
  readonly outcomeId: string;
  readonly invocationId: InvocationId;
  /** The number of the iteration, from 1. */
  readonly iteration: number;
  readonly result: 'satisfied' | 'needs_revision' | 'failed';
  /** The reason for the result. The agent receives it if it must revise. */
  readonly explanation: string;
  readonly usage?: Usage;
  /** The reason why the grader gave no verdict, for the operator and not for clients. */
  readonly error?: LoggedError;
};

/** Turns are no longer graded by this outcome. */
export type OutcomeEnded = {
  readonly type: 'outcome.ended';
  readonly outcomeId: string;
  readonly result: 'satisfied' | 'max_iterations_reached' | 'failed' | 'interrupted' | 'replaced';
};

/** The session was rewound: later turns ignore the events from this invocation on. They stay readable. */
export type SessionRewound = {
  readonly type: 'session.rewound';
  readonly beforeInvocationId: InvocationId;
};

/** The session continues under another version of its net. `from` and `to` are hashes of nets. */
export type SessionUpgraded = {
  readonly type: 'session.upgraded';
  readonly from: string;
  readonly to: string;
};

/** A client appended an event to the session, outside any turn. */
export type EventAppended = {
  readonly type: 'event.appended';
  readonly invocationId: InvocationId;
  readonly event: Event;
};
