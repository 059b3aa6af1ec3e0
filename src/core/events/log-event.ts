import type { Content } from '../content/content.ts';
import type { EventActions } from './event-actions.ts';
import type { Event, NodeInfo, ProviderMetadata } from './event.ts';
import type { FinishReason } from './finish-reason.ts';
import type { CallId, InvocationId, MessageId } from '../identity/ids.ts';
import type { Json, JsonObject } from '../json/json.ts';
import type { StateDelta } from '../state/state-delta.ts';
import type { StopReason } from './stop-reason.ts';
import type { Timestamp } from './timestamp.ts';
import type { Usage } from './usage.ts';

/** The number of a log event within its session: 1, 2, 3, ... with no gaps. */
export type Seq = number;

/** What a session did, in commit order: the canonical log. Every view a client gets is a pure projection of it. */
export type LogEvent = { readonly seq: Seq; readonly at: Timestamp } & LogEntry;

/** A log event before it is committed: then it gets its number and its time. */
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

/** The discriminant of a log event. */
export type LogEventType = LogEntry['type'];

/** A log event of one type: `LogEventByType<'tool.result'>`. */
export type LogEventByType<T extends LogEventType> = Extract<LogEvent, { readonly type: T }>;

/** A message reached its session and starts a turn, now or after the turns before it. */
export type UserMessage = {
  readonly type: 'user.message';
  readonly invocationId: InvocationId;
  readonly messageId: MessageId;
  readonly author: 'user';
  readonly content: Content;
};

/** A model's whole answer: its text, its thinking, and the calls it asks for, in its order. */
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
  /** The calls in `content` that are answered from outside. */
  readonly longRunningToolIds?: readonly CallId[];
  /** What a node of a workflow gives to those after it. */
  readonly output?: Json;
  /** Where in a workflow it was said. */
  readonly nodeInfo?: NodeInfo;
};

/** What a call needs before its result can be there: nothing, a person's yes, or a result from outside. */
export type ToolCallNeeds = 'nothing' | 'approval' | 'result';

/** A call of the model was taken up. `content` of the agent message before it holds the same call. */
export type ToolCall = {
  readonly type: 'tool.call';
  readonly invocationId: InvocationId;
  readonly author: string;
  readonly branch?: string;
  readonly callId: CallId;
  readonly name: string;
  readonly args: JsonObject;
  readonly needs: ToolCallNeeds;
  /** Of name and arguments: what an approval is bound to. */
  readonly fingerprint?: string;
  /** Where its tool comes from, for an agent that was declared as data. */
  readonly origin?: ToolOrigin;
  /** What the agent's policy says of it: it runs, someone is asked, or it is refused. */
  readonly permission?: 'allow' | 'ask' | 'deny';
  readonly nodeInfo?: NodeInfo;
};

/** A tool of the runtime, one whose calls a client answers, or one of an MCP server. */
export type ToolOrigin =
  | { readonly kind: 'builtin' | 'custom' }
  | { readonly kind: 'mcp'; readonly server: string };

/** A tool runs again: its process died while it ran, or it failed and may be retried. */
export type ToolAttempt = {
  readonly type: 'tool.attempt';
  readonly invocationId: InvocationId;
  readonly callId: CallId;
  readonly name: string;
  /** 2 for the first repetition. */
  readonly attempt: number;
  readonly reason: 'crash' | 'retry';
};

/**
 * How a call ended. Every outcome but `ok` is told to the model as an error.
 * `unknown`: the process died while it ran, so it may or may not have happened. `invalid`: its arguments were refused.
 */
export type ToolOutcome =
  | 'ok'
  | 'error'
  | 'timeout'
  | 'unknown'
  | 'denied'
  | 'cancelled'
  | 'not_found'
  | 'invalid';

/** The one answer to a call. */
export type ToolResult = {
  readonly type: 'tool.result';
  readonly invocationId: InvocationId;
  readonly author: string;
  readonly branch?: string;
  readonly callId: CallId;
  readonly name: string;
  readonly outcome: ToolOutcome;
  readonly response: Json;
  /** Milliseconds from the start of its last attempt. */
  readonly durationMs?: number;
  readonly actions?: Partial<EventActions>;
  readonly nodeInfo?: NodeInfo;
};

/** A call that ran waits for its result from outside, or something new is known of it meanwhile. */
export type ToolPending = {
  readonly type: 'tool.pending';
  readonly invocationId: InvocationId;
  readonly author: string;
  readonly branch?: string;
  readonly callId: CallId;
  readonly name: string;
  /** What is asked, or known so far. */
  readonly request?: Json;
  readonly nodeInfo?: NodeInfo;
};

/** Someone outside answered a waiting call. */
export type ToolAnswered = {
  readonly type: 'tool.answered';
  readonly invocationId: InvocationId;
  readonly callId: CallId;
  readonly decision: 'approved' | 'denied' | 'answered';
  readonly message?: string;
};

/** A turn has taken up its message. A session has one turn under way at a time; the messages after it wait. */
export type TurnStarted = { readonly type: 'turn.started'; readonly invocationId: InvocationId };

/** The turn goes on when these calls are answered from outside. */
export type TurnWaiting = {
  readonly type: 'turn.waiting';
  readonly invocationId: InvocationId;
  readonly stopReason: 'requires_action';
  readonly callIds: readonly CallId[];
};

/** A turn that waited goes on. */
export type TurnResumed = { readonly type: 'turn.resumed'; readonly invocationId: InvocationId };

/**
 * A turn is over; one that only waits says `turn.waiting`. An interrupt that found its turn ended already is told by
 * one too.
 */
export type TurnEnded = {
  readonly type: 'turn.ended';
  readonly invocationId: InvocationId;
  readonly stopReason: StopReason;
  /** Of all model answers of the turn. */
  readonly usage?: Usage;
};

/** A model is asked again: its process died meanwhile, or it failed in a way that may pass. */
export type ModelAttempt = {
  readonly type: 'model.attempt';
  readonly invocationId: InvocationId;
  /** 2 for the first repetition. */
  readonly attempt: number;
  readonly reason: 'crash' | 'retry';
  readonly error?: LoggedError;
};

/** State changed otherwise than by an event's actions, or by their merging: the values as they are now. */
export type StateChanged = {
  readonly type: 'state.changed';
  readonly delta: StateDelta;
  /** Keys that are gone. */
  readonly removed?: readonly string[];
  /** The agent that wrote it, or `user` for what came with a message. Missing: nobody in particular. */
  readonly author?: string;
  readonly branch?: string;
  readonly invocationId?: InvocationId;
};

/** An error as the log keeps it: a `code` for programs and a sentence for people, no stack. */
export type LoggedError = { readonly code: string; readonly message: string };

/** Something went wrong that no result of a tool tells. */
export type ErrorOccurred = {
  readonly type: 'error';
  readonly invocationId?: InvocationId;
} & LoggedError;

/** The model failed in a way that may pass: the turn waits, and asks it again. */
export type TurnRescheduled = {
  readonly type: 'turn.rescheduled';
  readonly invocationId: InvocationId;
  /** The attempt that failed, from 1. */
  readonly attempt: number;
  /** Counted from this event's time. */
  readonly retryInMs: number;
  readonly error: LoggedError;
};

/** A session is held, goes on, is done, or is closed for ever. */
export type SessionStatusChanged = {
  readonly type: 'session.paused' | 'session.resumed' | 'session.completed' | 'session.archived';
};

/** What a good result is was said: from here on, turns are judged by it. */
export type OutcomeDefined = {
  readonly type: 'outcome.defined';
  readonly outcomeId: string;
  readonly description: string;
  readonly rubric?: string;
  readonly maxIterations: number;
};

/** A round was judged. */
export type OutcomeEvaluated = {
  readonly type: 'outcome.evaluated';
  readonly outcomeId: string;
  readonly invocationId: InvocationId;
  /** From 1. */
  readonly iteration: number;
  readonly result: 'satisfied' | 'needs_revision' | 'failed';
  /** Why; told to the agent when it is to revise. */
  readonly explanation: string;
  readonly usage?: Usage;
  /** Why the grader gave no verdict: for the operator, not for clients. */
  readonly error?: LoggedError;
};

/** Turns are no longer judged by this outcome. */
export type OutcomeEnded = {
  readonly type: 'outcome.ended';
  readonly outcomeId: string;
  readonly result: 'satisfied' | 'max_iterations_reached' | 'failed' | 'interrupted' | 'replaced';
};

/** Events from this invocation on no longer count for what follows. They stay readable. */
export type SessionRewound = {
  readonly type: 'session.rewound';
  readonly beforeInvocationId: InvocationId;
};

/** The session goes on under another version of its net; both are hashes. */
export type SessionUpgraded = {
  readonly type: 'session.upgraded';
  readonly from: string;
  readonly to: string;
};

/** Someone put an event into the session as it is, by no turn of its agents. */
export type EventAppended = {
  readonly type: 'event.appended';
  readonly invocationId: InvocationId;
  readonly event: Event;
};
