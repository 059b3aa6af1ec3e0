import type {
  CallId,
  Json,
  JsonObject,
  LogEvent,
  LogEventByType,
  LoggedError,
  StopReason,
  Usage,
} from '../../core/index.ts';

/** `text`: the answer. `thinking`: the thoughts before it. */
export type TextKind = 'text' | 'thinking';

interface TextPosition {
  /** The id of the message: the same for its thoughts, its text and the `agent.message` that completes it. */
  readonly messageId: string;
  readonly kind: TextKind;
  readonly invocationId: string;
  readonly author: string;
  /** The agents from the outermost to the author, if there are several. */
  readonly branch?: string | undefined;
}

/** The text or the thoughts of a message begin. */
export interface TextStart extends TextPosition {
  readonly type: 'text.start';
}

/** A piece of text. The pieces of a message and a kind join to the whole. */
export interface TextDelta extends TextPosition {
  readonly type: 'text.delta';
  readonly text: string;
}

/** The text is complete. */
export interface TextEnd extends TextPosition {
  readonly type: 'text.end';
}

/** The pieces that were sent do not count: the model is called again, and its answer has another message id. */
export interface TextDropped extends TextPosition {
  readonly type: 'text.dropped';
}

/** A running tool reports progress. Reports are not stored. */
export interface ToolProgress {
  readonly type: 'tool.progress';
  readonly invocationId: string;
  readonly callId: CallId;
  readonly text: string;
}

/** A complete message of the agent, after the updates of its text. Its calls follow as `tool.call`. */
export type AgentMessageUpdate = LogEventByType<'agent.message'> & { readonly messageId: string };

/** A call that a client must answer. */
export interface OpenCall {
  readonly callId: CallId;
  readonly name: string;
  readonly args: JsonObject;
  /** `approval`: approve or deny it. `result`: send its result. */
  readonly needs: 'approval' | 'result';
  /** `crash`: the process died while the call ran, and a person decides whether it runs again. */
  readonly reason: 'policy' | 'crash';
  /** The question of a tool that ran and waits, for example the sign-in that it needs. */
  readonly request?: Json | undefined;
  /** The names of the called agents, from the outermost to the one that made the call. Empty: an agent of the session. */
  readonly path: readonly string[];
}

/** The first update of a run. */
export interface RunStarted {
  readonly type: 'run.started';
  readonly invocationId: string;
}

/** The last update of a run. */
export interface RunEnded {
  readonly type: 'run.ended';
  readonly invocationId: string;
  /**
   * - `completed`: the turn ended; `stopReason` says how.
   * - `waiting`: the calls of `waits` need answers.
   * - `interrupted`: a client stopped the turn.
   * - `failed`: `error` has the reason.
   * - `closed`: the session was completed, archived or deleted.
   */
  readonly outcome: 'completed' | 'waiting' | 'interrupted' | 'failed' | 'closed';
  readonly stopReason?: StopReason | undefined;
  readonly error?: LoggedError | undefined;
  readonly waits: readonly OpenCall[];
  /** True: the message is queued behind another turn, which waits. */
  readonly isQueued: boolean;
  /** Of all model calls of the turn. */
  readonly usage?: Usage | undefined;
}

/**
 * What a client of any protocol is shown of a session: the entries of its log, with the text of messages in pieces. A
 * protocol maps each update to its frames.
 */
export type SessionUpdate =
  | RunStarted
  | TextStart
  | TextDelta
  | TextEnd
  | TextDropped
  | ToolProgress
  | AgentMessageUpdate
  | Exclude<LogEvent, { readonly type: 'agent.message' }>
  | RunEnded;
