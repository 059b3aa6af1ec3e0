import * as v from 'valibot';
import { InvalidInputError, isJsonObject } from '../../core/index.ts';
import { parseJsonWithSchema } from '../../core/validation/parse-with-schema.ts';
import type { Json, JsonObject } from '../../core/index.ts';

/** The subprotocol of the WebSocket. Its version is in its name. */
export const LIVE_PROTOCOL = 'petrichor.live.v1';

/** Where a client continues after its socket was lost. */
export interface ResumedCall {
  /** The `call` of the `ready` message. */
  readonly call: string;
  /** The reply that it played last. Default: it has played nothing. */
  readonly reply?: string | undefined;
  readonly played_ms?: number | undefined;
}

/** The first message of a client. */
export interface HelloMessage {
  readonly type: 'hello';
  /** The API key, for clients that cannot set headers. */
  readonly key?: string | undefined;
  /** Samples per second of the audio that the client sends. Default: 16,000. */
  readonly input_rate?: number | undefined;
  readonly resume?: ResumedCall | undefined;
  /** Ends the call of another client. Default: false, which refuses this one. */
  readonly take_over?: boolean | undefined;
}

/** A message of a client, as a text frame. Audio is sent in binary frames. */
export type SocketMessage =
  | HelloMessage
  | { readonly type: 'speech_started' | 'speech_stopped' | 'hang_up' }
  | {
      readonly type: 'played' | 'stopped';
      readonly reply: string;
      /** Milliseconds from the beginning of the reply. */
      readonly played_ms: number;
    };

/** A message of the server, as a text frame. */
export type ServerMessage =
  | {
      readonly type: 'ready';
      /** Names the call. Send it as `resume.call` on the next socket. */
      readonly call: string;
      /** Whether the call of `resume` continues. */
      readonly resumed: boolean;
      /** Whether playback is paused. */
      readonly paused: boolean;
    }
  | {
      readonly type: 'reply';
      readonly reply: string;
      /** The number of the reply in binary frames. */
      readonly number: number;
      readonly sample_rate: number;
    }
  | { readonly type: 'pause' | 'resume' | 'flush' | 'ended' }
  | {
      readonly type: 'caption';
      readonly speaker: 'user' | 'agent';
      readonly reply: string | null;
      readonly text: string;
    }
  | {
      readonly type: 'error';
      readonly error: {
        readonly type: string;
        readonly message: string;
        readonly details?: JsonObject;
      };
    };

const id = v.pipe(v.string(), v.maxLength(512, 'must have at most 512 characters'));
const playedMs = v.pipe(
  v.number(),
  v.minValue(0, 'must be milliseconds from 0'),
  v.maxValue(86_400_000, 'must be at most a day in milliseconds'),
);
const inputRate = v.pipe(
  v.number(),
  v.integer('must be whole samples per second'),
  v.minValue(8_000, 'must be from 8000 to 48000'),
  v.maxValue(48_000, 'must be from 8000 to 48000'),
);

const hello = v.object({
  type: v.literal('hello'),
  key: v.optional(v.pipe(v.string(), v.maxLength(256, 'must have at most 256 characters'))),
  input_rate: v.optional(inputRate),
  resume: v.optional(
    v.object({ call: id, reply: v.optional(id), played_ms: v.optional(playedMs) }),
  ),
  take_over: v.optional(v.boolean()),
});
const playback = v.object({
  type: v.picklist(['played', 'stopped']),
  reply: id,
  played_ms: playedMs,
});
const signal = v.object({ type: v.picklist(['speech_started', 'speech_stopped', 'hang_up']) });

const SCHEMAS: Readonly<Record<SocketMessage['type'], v.GenericSchema<unknown, SocketMessage>>> = {
  hello,
  played: playback,
  stopped: playback,
  speech_started: signal,
  speech_stopped: signal,
  hang_up: signal,
};

/**
 * Parses a text frame of a client.
 * @throws InvalidJsonError, InvalidInputError, UnknownFieldError
 */
export function parseSocketMessage(message: Json): SocketMessage {
  if (!isJsonObject(message)) throw new InvalidInputError('message', 'must be an object.');
  const type = Object.keys(SCHEMAS).find((name) => name === message['type']);
  if (!isType(type))
    throw new InvalidInputError(
      'message.type',
      `must be one of ${Object.keys(SCHEMAS).join(', ')}.`,
    );
  return parseJsonWithSchema(SCHEMAS[type], message, 'message');
}

function isType(type: string | undefined): type is SocketMessage['type'] {
  return type !== undefined;
}

const AUDIO_HEADER_BYTES = 8;

/**
 * A binary frame of the server: the number of the reply and the position of its first sample in the reply, as unsigned
 * 32-bit numbers, then PCM with 16 bits and one channel. All is little-endian.
 */
export function encodeAudio(number: number, position: number, pcm: Uint8Array): Uint8Array {
  const frame = new Uint8Array(AUDIO_HEADER_BYTES + pcm.byteLength);
  const view = new DataView(frame.buffer);
  view.setUint32(0, number, true);
  view.setUint32(4, position, true);
  frame.set(pcm, AUDIO_HEADER_BYTES);
  return frame;
}
