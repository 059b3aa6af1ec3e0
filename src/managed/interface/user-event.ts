import type { Json, JsonObject } from '../../core/index.ts';

/** A piece of a message, as clients write it. */
export type ContentBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly source: JsonObject }
  | { readonly type: 'file'; readonly file_id: string }
  /** One that this version has no word for, in a log or from a model: passed on as it came. */
  | { readonly type: 'opaque'; readonly value: Json };

/** Says something to the agent: begins a turn, or waits for the one that runs. */
export interface UserMessageEvent {
  readonly type: 'user.message';
  readonly content: readonly ContentBlock[];
}

/** Stops the turn that runs; the session lives on. */
export interface UserInterruptEvent {
  readonly type: 'user.interrupt';
}

/**
 * A person's yes or no to a call that waits for it. The first answer counts: a later one is an AlreadyAnsweredError.
 */
export interface UserToolConfirmationEvent {
  readonly type: 'user.tool_confirmation';
  /** The call's id, or the id of the event that showed it. */
  readonly tool_use_id: string;
  readonly result: 'allow' | 'deny';
  /** Told to the model. */
  readonly deny_message?: string;
}

/** What the client's own tool gave for a call that waits for it; with `is_error` the model is told that it failed. */
export interface UserCustomToolResultEvent {
  readonly type: 'user.custom_tool_result';
  /** The call's id, or the id of the event that showed it. */
  readonly custom_tool_use_id: string;
  readonly content: readonly ContentBlock[];
  readonly is_error?: boolean;
}

/** The result of a built-in tool that the client runs itself. */
export interface UserToolResultEvent {
  readonly type: 'user.tool_result';
  /** The call's id, or the id of the event that showed it. */
  readonly tool_use_id: string;
  readonly content: readonly ContentBlock[];
  readonly is_error?: boolean;
}

/**
 * Says what a good result is. With `criteria` the turns from the next message on are judged by them; with a
 * `description` work on it begins at once. An outcome that is defined while another is open takes its place.
 */
export interface UserDefineOutcomeEvent {
  readonly type: 'user.define_outcome';
  readonly criteria?: string;
  readonly description?: string;
  readonly rubric?: string;
  /** Rounds in all, 1 to 20; 3 unless said. */
  readonly max_iterations?: number;
  /** The session is `completed` when the outcome is satisfied. */
  readonly complete_when_satisfied?: boolean;
}

/** What a client sends to a session. */
export type UserEvent =
  | UserMessageEvent
  | UserInterruptEvent
  | UserToolConfirmationEvent
  | UserCustomToolResultEvent
  | UserToolResultEvent
  | UserDefineOutcomeEvent;
