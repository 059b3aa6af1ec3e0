import type { JsonObject } from '../../../core/index.ts';
import type { ModelErrorKind } from '../../../models/index.ts';
import type { AudioFormat } from '../audio-format.ts';
import type { LiveCommand } from '../live-command.ts';
import type { LiveReporter } from '../live-reporter.ts';
import type { LiveCloseReason } from '../live-signal.ts';

/** A wire protocol, for one connection: what the messages of both sides mean. It does no I/O. */
export interface LiveProtocol {
  readonly inputAudio: AudioFormat;
  readonly outputAudio: AudioFormat;
  /** The socket is open. */
  readonly start: () => void;
  /**
   * The server sent a message.
   * @throws ProtocolViolation if nothing that follows can be trusted
   */
  readonly receive: (message: Readonly<Record<string, unknown>>) => void;
  /**
   * Sends the messages of a command, if it needs some.
   * @throws UnsupportedFeatureError if the protocol does not have it
   */
  readonly command: (command: LiveCommand) => readonly JsonObject[];
  readonly encodeAudio: (pcm: Uint8Array) => string;
  /** Returns undefined if the protocol has no images. */
  readonly encodeImage: (mimeType: string, data: Uint8Array) => string | undefined;
  readonly classifyClose: (code: number, reason: string) => CloseVerdict;
  /** Cancels timers. */
  readonly dispose: () => void;
}

/** What the connection does for its protocol. */
export interface ProtocolHost {
  readonly reporter: LiveReporter;
  readonly send: (message: JsonObject) => void;
  /** The model accepts input. */
  readonly ready: () => void;
  /** The server does not accept the conversation. */
  readonly refuse: (kind: ModelErrorKind, message: string) => void;
}

/** What a close code and its reason mean. */
export interface CloseVerdict {
  readonly reason: LiveCloseReason;
  readonly retryable: boolean;
  /** The kind of the error, if the connection was not yet open. */
  readonly kind: ModelErrorKind;
  /** The server does not know the resumption handle. */
  readonly isExpiredHandle?: boolean;
}

/** The server violated its protocol, so that the rest of the connection cannot be trusted. */
export class ProtocolViolation extends Error {
  override readonly name = 'ProtocolViolation';
}
