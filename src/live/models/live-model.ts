import type { Content } from '../../core/index.ts';
import type { ToolDeclaration } from '../../models/index.ts';
import type { AudioFormat } from './audio-format.ts';
import type { LiveCommand } from './live-command.ts';
import type { LiveConfig } from './live-config.ts';
import type { LiveSignal } from './live-signal.ts';

/** A model for spoken conversations. It holds a connection open, over which both sides send at any time. */
export interface LiveModel {
  readonly name: string;
  /**
   * Opens a connection. It resolves when the model accepts input. It does not retry: the caller
   * does. It settles soon after `context.signal` aborts; a later abort closes the connection.
   * @throws ModelError if the connection cannot be opened; `retryable` tells whether another attempt may succeed
   * @throws LiveHandleExpiredError if the server does not know `request.handle`
   * @throws UnsupportedFeatureError for an option that the protocol does not have
   * @throws InvalidInputError, UnknownFieldError for an invalid option
   */
  readonly open: (request: LiveOpenRequest, context: LiveOpenContext) => Promise<LiveConnection>;
}

/** What a conversation begins with. */
export type LiveOpenRequest = {
  readonly instruction?: string;
  /**
   * The conversation so far, oldest first. Parts that are not text, calls or results are left out.
   * Not sent with a `handle`, because the server then has it. Default: empty.
   */
  readonly history?: readonly Content[];
  /** Default: none. */
  readonly tools?: readonly LiveToolDeclaration[];
  /** The newest resumption handle of the conversation. Default: a new conversation. */
  readonly handle?: string;
  readonly config?: LiveConfig;
};

/** The declaration of a tool for a live model. */
export type LiveToolDeclaration = ToolDeclaration & {
  /** The model goes on talking while the tool runs. Default: false. */
  readonly nonBlocking?: boolean;
};

/** The context of a connection. */
export interface LiveOpenContext {
  /** Aborts opening, and closes the connection later. */
  readonly signal: AbortSignal;
  readonly listener: LiveListener;
}

/**
 * Receives what a connection reports, in the order of the connection. The first call can come
 * before `open` resolves. A listener returns at once and does not throw; an error that it throws
 * becomes a diagnostic.
 */
export interface LiveListener {
  readonly onSignal: (signal: LiveSignal) => void;
  readonly onMedia: (media: LiveMedia) => void;
  /** Text in progress. It is void when the `said` or `heard` signal with the complete text arrives. */
  readonly onPartial?: (partial: LivePartial) => void;
  /** Something that is odd, but ends nothing. */
  readonly onDiagnostic?: (diagnostic: LiveDiagnostic) => void;
}

/** Audio of a reply, in the `outputAudio` format of the connection. */
export type LiveMedia = {
  readonly reply: string;
  readonly data: Uint8Array;
  /** The position of the first sample in the reply, in milliseconds. */
  readonly fromMs: number;
  /** The position after the last sample in the reply, in milliseconds. */
  readonly toMs: number;
};

/** The next piece of a text in progress: of a reply, or of the transcript of the user's speech. */
export type LivePartial =
  | {
      readonly kind: 'said';
      readonly reply: string;
      readonly text: string;
      readonly form: 'audio' | 'text' | 'thought';
    }
  | { readonly kind: 'heard'; readonly text: string };

/** Something that a connection noticed and survived. */
export type LiveDiagnostic = {
  readonly kind:
    /** The server sent a message of a type that this version does not know. It was ignored. */
    | 'unknown_message'
    /** A member of a message had an unexpected value. The member was ignored. */
    | 'unexpected_value'
    /** The server reported an error and kept the connection open. */
    | 'server_error'
    /** An option or a part of a request was left out, because the protocol does not have it. */
    | 'unsupported'
    /** Audio to the model was dropped, because the connection is slower than the audio. */
    | 'audio_dropped'
    /** The listener threw an error. */
    | 'listener_failed';
  /** Without secrets. */
  readonly message: string;
};

/** An open connection. Its methods do not throw after it has closed, except `send`. */
export interface LiveConnection {
  /** The format of audio for `sendAudio`. */
  readonly inputAudio: AudioFormat;
  /** The format of audio in `onMedia`. */
  readonly outputAudio: AudioFormat;
  /**
   * Sends a command. It resolves when the command is handed to the network. Commands are sent in
   * the order of the calls.
   * @throws LiveConnectionClosedError if the connection is closed: the command was not sent
   * @throws UnsupportedFeatureError if the protocol does not have the command
   */
  readonly send: (command: LiveCommand) => Promise<void>;
  /**
   * Sends audio of the user in the `inputAudio` format, in chunks of 10 to 100 ms. Returns false if
   * the audio was dropped: the connection is closed, or slower than the audio.
   */
  readonly sendAudio: (pcm: Uint8Array) => boolean;
  /** Sends an image, such as a video frame. Returns false if it was dropped, or if the protocol has no images. */
  readonly sendImage: (mimeType: string, data: Uint8Array) => boolean;
  /** Bytes that wait to be sent. */
  readonly bufferedBytes: () => number;
  /** Stops reading from the network until `resume`, so that a slow listener is not flooded. */
  readonly pause: () => void;
  /** Continues to read from the network. */
  readonly resume: () => void;
  /** Closes the connection. The listener has received `closed` when it resolves. It never rejects. */
  readonly close: () => Promise<void>;
}
