import type { AudioFormat } from '../models/audio-format.ts';
import type { LiveMedia, LivePartial } from '../models/live-model.ts';

/** The client of a call: it plays audio, and is told at once when to stop. */
export interface LiveClient {
  /** Audio of a reply, to be played in this order. */
  readonly onAudio: (audio: LiveMedia) => void;
  /** The user begins to speak: stop playing at once, and keep the audio. */
  readonly onPause: () => void;
  /** The user's speech interrupted nothing: play on. */
  readonly onResume: () => void;
  /** The reply was cut: drop its audio, and call `stopped` of the call. */
  readonly onFlush: () => void;
  /** Text in progress, for captions. It is not stored. */
  readonly onPartial?: (partial: LivePartial) => void;
}

/** A call: the client's side of a live session. Media flows only while the session's owner is in this process. */
export interface VoiceCall {
  /** The format of audio for `sendAudio`. Undefined until the first connection is open. */
  readonly inputAudio: AudioFormat | undefined;
  /** Sends audio of the user, in chunks of 10 to 100 ms. While no connection is open, the newest seconds are kept. */
  readonly sendAudio: (pcm: Uint8Array) => void;
  /** The client's voice detection found the start of speech. Only for `vad: 'client'`. */
  readonly speechStarted: () => void;
  /** The client's voice detection found the end of speech. Only for `vad: 'client'`. */
  readonly speechStopped: () => void;
  /** Reports how much of a reply was played, in milliseconds from its beginning. Call it at least twice a second. */
  readonly played: (reply: string, playedMs: number) => void;
  /** Reports how much of a reply was played when its audio was dropped: the answer to `onFlush`. */
  readonly stopped: (reply: string, playedMs: number) => void;
  /** Ends the call, and the session's live connection. The session itself goes on. */
  readonly hangUp: () => Promise<void>;
}
