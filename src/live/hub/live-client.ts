import type { AudioFormat } from '../models/audio-format.ts';
import type { LiveMedia, LivePartial } from '../models/live-model.ts';
import type { LiveGoAwaySignal, LiveHandleSignal } from '../models/live-signal.ts';

/** A connection that is open. */
export interface OpenConnection {
  readonly conn: string;
  /** The agent that speaks. Undefined in a session of one agent. */
  readonly agent: string | undefined;
  readonly inputAudio: AudioFormat;
  readonly outputAudio: AudioFormat;
}

/** Text in progress, and for a transcript of the user the turn that it belongs to. */
export type ClientPartial = LivePartial & { readonly invocationId?: string };

/** A reply that belongs to a turn. */
export interface AcceptedReply {
  readonly reply: string;
  readonly invocationId: string;
}

/** The client of a call: it plays audio, and is told at once when to stop. */
export interface LiveClient {
  /**
   * Samples per second of the audio that the client sends, from 8,000 to 48,000. It is converted to the rate of each
   * connection. Default: the client sends the rate of the connection, `inputAudio` of its call.
   */
  readonly inputRate?: number;
  /** Audio of a reply, to be played in this order. */
  readonly onAudio: (audio: LiveMedia) => void;
  /** The user begins to speak: stop playing at once, and keep the audio. */
  readonly onPause: () => void;
  /** The user's speech interrupted nothing: play on. */
  readonly onResume: () => void;
  /** The reply was cut: drop its audio, and call `stopped` of the call. */
  readonly onFlush: () => void;
  /** Text in progress, for captions. It is not stored. */
  readonly onPartial?: (partial: ClientPartial) => void;
  /** The session has accepted a reply of the model: its audio follows. Text in progress can come before. */
  readonly onReply?: (reply: AcceptedReply) => void;
  /** A connection has opened. Also called for one that was open before the client came. */
  readonly onConnected?: (connection: OpenConnection) => void;
  /** A connection could not be opened. Another attempt may follow. */
  readonly onConnectFailed?: (error: unknown) => void;
  /** A signal of the connection that the log does not have. It is not stored for the client. */
  readonly onSignal?: (signal: LiveGoAwaySignal | LiveHandleSignal) => void;
}

/** A call: the client's side of a live session. Media flows only while the session's owner is in this process. */
export interface VoiceCall {
  /** The format of audio that the model receives; without `inputRate`, that for `sendAudio`. Undefined until the first connection is open. */
  readonly inputAudio: AudioFormat | undefined;
  /** False when another client has replaced this one, and while another process owns the session: then no media flows. */
  readonly isAttached: boolean;
  /** Sends audio of the user, in chunks of 10 to 100 ms. While no connection is open, the newest seconds are kept. */
  readonly sendAudio: (pcm: Uint8Array) => void;
  /** Sends an image, such as a video frame. Returns false if it was dropped, or if the model has no images. */
  readonly sendImage: (mimeType: string, data: Uint8Array) => boolean;
  /** The microphone is off. The next audio turns it on again. */
  readonly audioEnded: () => void;
  /** The client's voice detection found the start of speech. Ignored if the model detects speech: see `vad`. */
  readonly speechStarted: () => void;
  /** The client's voice detection found the end of speech. Ignored if the model detects speech: see `vad`. */
  readonly speechStopped: () => void;
  /** Reports how much of a reply was played, in milliseconds from its beginning. Call it at least twice a second. */
  readonly played: (reply: string, playedMs: number) => void;
  /** Reports how much of a reply was played when its audio was dropped: the answer to `onFlush`. */
  readonly stopped: (reply: string, playedMs: number) => void;
  /** Ends the call, and the session's live connection. The session itself goes on. */
  readonly hangUp: () => Promise<void>;
  /** The client is gone, and may call again: the connection stays open for `clientTimeoutMs`. */
  readonly leave: () => void;
}
