import type { Content, JsonObject } from '../../core/index.ts';

/** What a connection is told to do, apart from media. No command contains audio. */
export type LiveCommand =
  | LiveRespondCommand
  | LiveTextCommand
  | LiveNudgeCommand
  | LiveToolResultCommand
  | LiveCutCommand
  | LiveTruncateCommand
  | LiveActivityCommand
  | LiveAudioEndCommand;

/** Starts a reply to what the model has received so far. */
export type LiveRespondCommand = { readonly kind: 'respond' };

/** Adds a message to the conversation. */
export type LiveTextCommand = {
  readonly kind: 'text';
  readonly content: Content;
  /** Whether the model replies now. Default: true. */
  readonly respond?: boolean;
};

/** Starts a reply, with an instruction for this reply alone, such as to ask whether the user is still there. */
export type LiveNudgeCommand = { readonly kind: 'nudge'; readonly instruction: string };

/** Sends results of calls. */
export type LiveToolResultCommand = {
  readonly kind: 'tool-result';
  readonly results: readonly LiveToolResult[];
  /** Whether the model replies now. Default: true. */
  readonly respond?: boolean;
};

/** The result of one call. */
export type LiveToolResult = {
  readonly callId: string;
  readonly name: string;
  readonly response: JsonObject;
  readonly isError?: true;
  /** True if more results of this call follow. Only for tools that are declared with `nonBlocking`. Default: false. */
  readonly willContinue?: boolean;
  /**
   * When the model takes notice of a result of a `nonBlocking` tool: at once, when it is idle, or
   * without a reply. Default: the model's.
   */
  readonly scheduling?: 'interrupt' | 'when-idle' | 'silent';
};

/** Stops the current reply. Without one, it does nothing. */
export type LiveCutCommand = { readonly kind: 'cut' };

/**
 * Tells the model how much of a reply was audible, so that its context has no words that nobody
 * could listen to. A model that keeps track of this itself ignores the command.
 */
export type LiveTruncateCommand = {
  readonly kind: 'truncate';
  readonly reply: string;
  /** Audio that was played, in milliseconds from the beginning of the reply. */
  readonly playedMs: number;
};

/** The user begins or ends to speak. For connections whose model does not detect speech itself. */
export type LiveActivityCommand = {
  readonly kind: 'activity';
  readonly edge: 'started' | 'stopped';
};

/** The microphone is off. The next audio frame turns it on again. */
export type LiveAudioEndCommand = { readonly kind: 'audio-end' };
