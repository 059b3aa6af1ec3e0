import { checkOptions, InvalidInputError, optionTable } from '../../core/index.ts';
import type { Content, InlineData, OptionTable, StateDelta } from '../../core/index.ts';

/** One input of a live session. If several members are set, the first one in this order counts; `stateDelta` always does. */
export interface LiveRequest {
  /** The user begins to speak. Only with `realtimeInputConfig.automaticActivityDetection.disabled`. */
  readonly activityStart?: Readonly<Record<never, never>>;
  /** The user stops speaking. Only with `realtimeInputConfig.automaticActivityDetection.disabled`. */
  readonly activityEnd?: Readonly<Record<never, never>>;
  /** The microphone is off. */
  readonly audioStreamEnd?: boolean;
  /** Audio, as `audio/pcm` with 16 bits and one channel; or an image. */
  readonly blob?: InlineData;
  /** A message, or the results of calls that wait. */
  readonly content?: Content;
  /** With `content`: more of the message follows. Default: false. */
  readonly partial?: boolean;
  /** State changes, written with the message or at once. */
  readonly stateDelta?: StateDelta;
  /** Ends the live session. Nothing else may be set. */
  readonly close?: boolean;
}

/** Options of `LiveRequestQueue`. */
export interface LiveRequestQueueOptions {
  /** How much audio waits for the reader, in milliseconds. Older audio is dropped. Default: 10,000. */
  readonly maxQueuedMs?: number;
}

/** The options of `LiveRequestQueue`. */
export const LIVE_REQUEST_QUEUE_OPTIONS: OptionTable = optionTable<LiveRequestQueueOptions>(
  'LiveRequestQueue',
  { maxQueuedMs: true },
);

const LIVE_REQUEST: OptionTable = optionTable<LiveRequest>('request', {
  activityStart: true,
  activityEnd: true,
  audioStreamEnd: true,
  blob: true,
  content: true,
  partial: true,
  stateDelta: true,
  close: true,
});

const DEFAULT_SAMPLE_RATE = 16_000;
const MIN_SAMPLE_RATE = 8_000;
const MAX_SAMPLE_RATE = 48_000;
const BYTES_PER_SAMPLE = 2;

/**
 * The input of a live session, for `runner.runLive`. Any number of writers, and one reader. ADK's `LiveRequestQueue`.
 * Audio that nobody reads is dropped from the front; messages and `close` never are.
 */
export class LiveRequestQueue {
  readonly #maxQueuedMs: number;
  readonly #requests: LiveRequest[] = [];
  #queuedMs = 0;
  #droppedMs = 0;
  #isClosed = false;
  #isRead = false;
  #notify: () => void = () => {};

  /** @throws InvalidInputError, UnknownFieldError */
  constructor(options: LiveRequestQueueOptions = {}) {
    checkOptions(LIVE_REQUEST_QUEUE_OPTIONS, options);
    const { maxQueuedMs = 10_000 } = options;
    if (!Number.isFinite(maxQueuedMs) || maxQueuedMs <= 0)
      throw new InvalidInputError(
        'maxQueuedMs',
        `must be milliseconds above 0; it is ${String(maxQueuedMs)}.`,
      );
    this.#maxQueuedMs = maxQueuedMs;
  }

  /** True after `close`. */
  get closed(): boolean {
    return this.#isClosed;
  }

  /** Audio that was dropped because nobody read it in time, in milliseconds. */
  get droppedMs(): number {
    return this.#droppedMs;
  }

  /** Sends a message. With `partial`, more of it follows. @throws InvalidInputError after `close` */
  sendContent(content: Content, { partial = false }: { readonly partial?: boolean } = {}): void {
    this.send({ content, ...(partial && { partial }) });
  }

  /** Sends audio or an image. @throws InvalidInputError after `close` */
  sendRealtime(blob: InlineData): void {
    this.send({ blob });
  }

  /** The user begins to speak. @throws InvalidInputError after `close` */
  sendActivityStart(): void {
    this.send({ activityStart: {} });
  }

  /** The user stops speaking. @throws InvalidInputError after `close` */
  sendActivityEnd(): void {
    this.send({ activityEnd: {} });
  }

  /** The microphone is off. @throws InvalidInputError after `close` */
  sendAudioStreamEnd(): void {
    this.send({ audioStreamEnd: true });
  }

  /** Ends the live session. The session itself goes on. */
  close(): void {
    if (!this.#isClosed) this.send({ close: true });
  }

  /**
   * Sends any input.
   * @throws InvalidInputError for an empty request, for `close` with anything else, and after `close`
   * @throws UnknownFieldError
   */
  send(request: LiveRequest): void {
    checkRequest(request);
    if (this.#isClosed)
      throw new InvalidInputError(
        'request',
        'cannot be sent: the queue is closed. Make a new one.',
      );
    this.#isClosed = request.close === true;
    this.#requests.push(request);
    this.#queuedMs += audioMs(request);
    this.#dropOldAudio();
    this.#notify();
  }

  /**
   * Reads the requests in order, and ends after `close` or when `signal` aborts.
   * @throws InvalidInputError if the queue has a reader already
   */
  async *read(signal?: AbortSignal): AsyncGenerator<LiveRequest, void, void> {
    if (this.#isRead)
      throw new InvalidInputError(
        'liveRequestQueue',
        'has a reader already: give each live session its own queue.',
      );
    this.#isRead = true;
    const notify = (): void => this.#notify();
    signal?.addEventListener('abort', notify, { once: true });
    try {
      for (;;) {
        if (signal?.aborted === true) return;
        const request = this.#requests.shift();
        if (request === undefined) {
          const { promise, resolve } = Promise.withResolvers<void>();
          this.#notify = resolve;
          await promise;
          continue;
        }
        this.#queuedMs -= audioMs(request);
        if (request.close === true) return;
        yield request;
      }
    } finally {
      this.#isRead = false;
      signal?.removeEventListener('abort', notify);
    }
  }

  #dropOldAudio(): void {
    while (this.#queuedMs > this.#maxQueuedMs) {
      const oldest = this.#requests.findIndex((request) => audioMs(request) > 0);
      const [dropped] = this.#requests.splice(oldest, 1);
      const ms = dropped === undefined ? this.#queuedMs : audioMs(dropped);
      this.#queuedMs -= ms;
      this.#droppedMs += ms;
    }
  }
}

/** The bytes of a blob. Its base64 may have either alphabet, with or without padding, as ADK's clients send it. */
export function decodeBlob({ data }: InlineData): Uint8Array {
  return Buffer.from(data, 'base64');
}

/** The sample rate of audio, from its media type. Default: 16,000. */
export function readSampleRate({ mimeType }: InlineData): number {
  const rate = /;\s*rate=(\d+)/.exec(mimeType)?.[1];
  return rate === undefined ? DEFAULT_SAMPLE_RATE : Number(rate);
}

/** The duration of the audio of a request, in milliseconds. 0 for anything but audio. */
function audioMs({ blob }: LiveRequest): number {
  if (blob === undefined || !isAudio(blob)) return 0;
  const bytes = Buffer.byteLength(blob.data, 'base64');
  return (bytes / BYTES_PER_SAMPLE / readSampleRate(blob)) * 1000;
}

function checkRequest(request: LiveRequest): void {
  checkOptions(LIVE_REQUEST, request);
  const { close = false, partial: _, ...inputs } = request;
  const set = Object.entries(inputs).filter(([, value]) => value !== undefined && value !== false);
  if (close && set.length > 0)
    throw new InvalidInputError(
      'request.close',
      `must be alone; ${String(set[0]?.[0])} is set too.`,
    );
  if (!close && set.length === 0)
    throw new InvalidInputError('request', 'is empty: set content, blob or an activity.');
  if (request.blob !== undefined) checkBlob(request.blob);
}

function checkBlob(blob: InlineData): void {
  const { mimeType, data } = blob;
  if (typeof mimeType !== 'string' || !/^(?:audio\/(?:pcm|l16)\b|image\/|video\/)/i.test(mimeType))
    throw new InvalidInputError(
      'request.blob.mimeType',
      `must be audio/pcm;rate=16000, or the type of an image; it is ${JSON.stringify(mimeType)?.slice(0, 100)}.`,
    );
  if (typeof data !== 'string')
    throw new InvalidInputError('request.blob.data', 'must be bytes in base64.');
  const rate = readSampleRate(blob);
  if (isAudio(blob) && (rate < MIN_SAMPLE_RATE || rate > MAX_SAMPLE_RATE))
    throw new InvalidInputError(
      'request.blob.mimeType',
      `must have a rate from ${MIN_SAMPLE_RATE} to ${MAX_SAMPLE_RATE}; it is ${rate}.`,
    );
}

/** True for audio, as opposed to an image. */
export function isAudio({ mimeType }: Pick<InlineData, 'mimeType'>): boolean {
  return /^audio\//i.test(mimeType);
}
