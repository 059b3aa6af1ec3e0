import type { ArgsError, FinishReason, JsonObject, Usage } from '../../core/index.ts';

/**
 * The largest signal, in bytes of JSON. Signals are journaled; media is not. A longer transcript is
 * split into several `said` or `heard` signals, and a call with larger arguments has an `argsError`.
 */
export const MAX_LIVE_SIGNAL_BYTES: number = 64 * 1024;

/**
 * What happened in a conversation, apart from its media. No signal contains audio.
 *
 * A reply is `begun` once and `done` once, unless the connection closes before. Between these come
 * its `said` signals, whose texts joined are the whole text of the reply; its calls, if it makes
 * some; and `interrupted`, if it was cut. After `interrupted` the reply has no more media. Calls that
 * the model makes nevertheless are a reply of their own.
 *
 * `reply` is unique within a connection. Signals arrive in the order of the connection, together
 * with media and partials. `closed` is the last one.
 */
export type LiveSignal =
  | LiveVoiceSignal
  | LiveTranscriptSignal
  | LiveBegunSignal
  | LiveReplyTextSignal
  | LiveCallSignal
  | LiveCallCanceledSignal
  | LiveInterruptedSignal
  | LiveDoneSignal
  | LiveGoAwaySignal
  | LiveHandleSignal
  | LiveClosedSignal;

/** The model's voice detection found the start or the end of speech. */
export type LiveVoiceSignal = {
  readonly kind: 'voice';
  readonly edge: 'started' | 'stopped';
  /** Milliseconds since the first audio frame of the connection, if the protocol reports them. */
  readonly atMs?: number;
};

/** The transcript of what the user said, complete. */
export type LiveTranscriptSignal = { readonly kind: 'heard'; readonly text: string };

/** A reply begins. */
export type LiveBegunSignal = { readonly kind: 'begun'; readonly reply: string };

/** Complete text of a reply. */
export type LiveReplyTextSignal = {
  readonly kind: 'said';
  readonly reply: string;
  readonly text: string;
  /** `audio`: the transcript of what is audible. `text`: the model wrote text. `thought`: its thinking. */
  readonly form: 'audio' | 'text' | 'thought';
};

/** Calls of a reply. The reply is `done` with `tool_calls` next. Each call needs one result. */
export type LiveCallSignal = {
  readonly kind: 'call';
  readonly reply: string;
  readonly calls: readonly LiveCall[];
};

/** One call. */
export type LiveCall = {
  /** The provider's id, unique within the conversation. The result has the same id. */
  readonly id: string;
  readonly name: string;
  /** Empty and meaningless if `argsError` is set. */
  readonly args: JsonObject;
  readonly argsError?: ArgsError;
};

/** The model no longer wants the results of these calls. A result that is sent is not delivered. */
export type LiveCallCanceledSignal = {
  readonly kind: 'call-canceled';
  readonly callIds: readonly string[];
};

/** A reply was cut: by the user's speech, or by `cut`. `done` follows. */
export type LiveInterruptedSignal = { readonly kind: 'interrupted'; readonly reply: string };

/** A reply has ended. */
export type LiveDoneSignal = {
  readonly kind: 'done';
  readonly reply: string;
  readonly finishReason: FinishReason;
  /** True after `interrupted`. */
  readonly interrupted: boolean;
  /** Token usage since the previous `done`, if the model reports it. */
  readonly usage?: Usage;
  /** Set if the reply failed. The connection stays open. */
  readonly error?: LiveReplyError;
};

/** Why a reply failed. */
export type LiveReplyError = {
  /** The provider's code, such as `rate_limit_exceeded`. */
  readonly code: string;
  readonly message: string;
};

/** The server will close the connection soon. Open the next one. */
export type LiveGoAwaySignal = {
  readonly kind: 'go-away';
  /** The time until the server closes the connection, in milliseconds, if it reports it. */
  readonly timeLeftMs?: number;
};

/** The conversation can be resumed with this handle. It replaces all earlier handles. */
export type LiveHandleSignal = { readonly kind: 'handle'; readonly handle: string };

/** The connection is closed. No signal follows. */
export type LiveClosedSignal = {
  readonly kind: 'closed';
  readonly reason: LiveCloseReason;
  /** Whether another connection may succeed. */
  readonly retryable: boolean;
  /** The WebSocket close code, if the server sent one. */
  readonly code?: number;
  /** The server's reason, without secrets. */
  readonly message?: string;
};

/** Why a connection closed. */
export type LiveCloseReason =
  /** `close()` was called, or the signal of `open` aborted. */
  | 'client'
  /** The server ended the conversation normally. */
  | 'ended'
  /** The server closed after `go-away`, or because the session reached its maximum duration. */
  | 'go-away'
  /** The connection broke, the server failed, or it did not answer pings. */
  | 'lost'
  /** The server rejected the key, or a message of this connection. */
  | 'refused'
  /** The server sent something that violates its protocol. */
  | 'protocol'
  /** A frame was larger than the limit, or the server did not read what it was sent. */
  | 'limit'
  /** The runtime that owned the connection is gone. A runtime reports it for its predecessor; no model does. */
  | 'owner';
