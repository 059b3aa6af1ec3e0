import type { Json, JsonObject } from '../../core/index.ts';

/** A block of a message, as clients write it. */
export type ContentBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly source: JsonObject }
  | { readonly type: 'file'; readonly file_id: string }
  /** A block that this version does not know, from a log or a model. Passed on unchanged. */
  | { readonly type: 'opaque'; readonly value: Json };

/** A message to the agent. It starts a turn, or waits for the running one. */
export interface UserMessageEvent {
  readonly type: 'user.message';
  readonly content: readonly ContentBlock[];
  /** A JSON Schema of an object: the final answer of this turn is JSON of this schema. Default: text. */
  readonly output_schema?: JsonObject;
}

/** Stops the running turn. The session stays usable. */
export interface UserInterruptEvent {
  readonly type: 'user.interrupt';
}

/** Approves or denies a call that waits for it. The first answer counts; a later one throws an AlreadyAnsweredError. */
export interface UserToolConfirmationEvent {
  readonly type: 'user.tool_confirmation';
  /** The call's id, or the id of the event that announced it. */
  readonly tool_use_id: string;
  readonly result: 'allow' | 'deny';
  /** With `allow`: the fingerprint of the pending call. The call is approved only if it has this one. */
  readonly fingerprint?: string;
  /** Passed to the model. */
  readonly deny_message?: string;
}

/**
 * The result of a client tool, for a call that waits for it. With `is_error` it is reported to the model as a failure.
 */
export interface UserCustomToolResultEvent {
  readonly type: 'user.custom_tool_result';
  /** The call's id, or the id of the event that announced it. */
  readonly custom_tool_use_id: string;
  readonly content: readonly ContentBlock[];
  readonly is_error?: boolean;
}

/** The result of a built-in tool that the client runs. */
export interface UserToolResultEvent {
  readonly type: 'user.tool_result';
  /** The call's id, or the id of the event that announced it. */
  readonly tool_use_id: string;
  readonly content: readonly ContentBlock[];
  readonly is_error?: boolean;
}

/**
 * Defines an outcome: what a good result is. With `criteria`, the turns from the next message on are judged by them.
 * With `description`, work on it starts with this text as the message. It replaces an outcome that is still open.
 */
export interface UserDefineOutcomeEvent {
  readonly type: 'user.define_outcome';
  readonly criteria?: string;
  readonly description?: string;
  readonly rubric?: string;
  /** Maximum number of rounds, 1 to 20. Default: 3. */
  readonly max_iterations?: number;
  /** Makes the session `completed` when the outcome is satisfied. Default: false. */
  readonly complete_when_satisfied?: boolean;
}

/** An event that a client sends to a session. */
export type UserEvent =
  | UserMessageEvent
  | UserInterruptEvent
  | UserToolConfirmationEvent
  | UserCustomToolResultEvent
  | UserToolResultEvent
  | UserDefineOutcomeEvent;
