import type { AudioFormat } from '../models/audio-format.ts';
import type { LiveCommand } from '../models/live-command.ts';
import type {
  LiveConnection,
  LiveMedia,
  LiveModel,
  LiveOpenRequest,
  LivePartial,
} from '../models/live-model.ts';
import { LiveConnectionClosedError } from '../models/live-errors.ts';
import type { LinkOpening } from '../vocabulary/live-host.ts';
import type { ClientEdge } from './input-queue.ts';
import type { OpenConnection } from './live-client.ts';
import type { LiveSignal } from '../models/live-signal.ts';

/** Receives what a connection reports, from when the net knows the connection. */
export interface LinkListener {
  readonly onSignal: (signal: LiveSignal) => void;
  readonly onMedia: (media: LiveMedia) => void;
  readonly onPartial: (partial: LivePartial) => void;
}

/** One connection of a session. What it reports while it opens waits until the net has its token. */
export class LinkConnection {
  readonly conn: string;
  /** The agent that it is for. Undefined in a session of one agent. */
  readonly agent: string | undefined;
  /** Whether the model detects speech, and not the client. */
  readonly detectsVoice: boolean;
  readonly #listener: LinkListener;
  #connection: LiveConnection | undefined;
  #waiting: (() => void)[] | undefined = [];
  #abort = new AbortController();
  #reply: string | undefined;
  #isLimited = false;
  #isReceivingSpeech = false;

  constructor(
    { conn, agent, request }: Pick<LinkOpening, 'conn' | 'agent' | 'request'>,
    listener: LinkListener,
  ) {
    this.conn = conn;
    this.agent = agent;
    this.detectsVoice =
      request.config?.realtimeInputConfig?.automaticActivityDetection?.disabled !== true;
    this.#listener = listener;
  }

  get isOpen(): boolean {
    return this.#connection !== undefined;
  }

  get inputAudio(): AudioFormat | undefined {
    return this.#connection?.inputAudio;
  }

  /** What a client is told about it. Undefined until it is open. */
  get opened(): OpenConnection | undefined {
    const { conn, agent } = this;
    if (this.#connection === undefined) return undefined;
    const { inputAudio, outputAudio } = this.#connection;
    return { conn, agent, inputAudio, outputAudio };
  }

  /** Opens the connection. @throws every error of `LiveModel.open` */
  async open(model: LiveModel, request: LiveOpenRequest, signal: AbortSignal): Promise<void> {
    const onAbort = (): void => this.#abort.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      if (signal.aborted) onAbort();
      this.#connection = await model.open(request, {
        signal: this.#abort.signal,
        listener: {
          onSignal: (one) => this.#deliver(() => this.#onSignal(one)),
          onMedia: (media) => this.#deliver(() => this.#listener.onMedia(media)),
          onPartial: (partial) => this.#deliver(() => this.#listener.onPartial(partial)),
        },
      });
    } finally {
      // The firing that opened the connection ends; the connection does not.
      signal.removeEventListener('abort', onAbort);
    }
    // The end of that firing is the next input of the net. What the connection reports comes after it.
    setImmediate(() => {
      const waiting = this.#waiting ?? [];
      this.#waiting = undefined;
      for (const deliver of waiting) deliver();
    });
  }

  async send(command: LiveCommand): Promise<void> {
    if (this.#connection === undefined)
      throw new LiveConnectionClosedError(this.conn, command.kind);
    await this.#connection.send(command);
  }

  /** Stops this reply; without one, whatever the model is about to say. */
  async cut(reply: string | undefined): Promise<void> {
    // A model that detects speech itself has stopped.
    const isCurrent = reply === undefined ? !this.detectsVoice : reply === this.#currentReply;
    if (isCurrent) await this.send({ kind: 'cut' });
  }

  async truncate(reply: string, playedMs: number): Promise<void> {
    await this.send({ kind: 'truncate', reply: reply.slice(this.conn.length + 1), playedMs });
  }

  /** Whether the client's speech has begun over this connection, and not ended. */
  get isReceivingSpeech(): boolean {
    return this.#isReceivingSpeech;
  }

  /** Tells the model an edge of the client's speech, unless it knows it. */
  activity(edge: ClientEdge): void {
    const isStart = edge === 'started';
    if (this.detectsVoice || this.#connection === undefined || isStart === this.#isReceivingSpeech)
      return;
    this.#isReceivingSpeech = isStart;
    // If the connection breaks, its `closed` signal says so.
    this.#connection.send({ kind: 'activity', edge }).catch(() => {});
  }

  sendAudio(pcm: Uint8Array): void {
    this.#connection?.sendAudio(pcm);
  }

  sendImage(mimeType: string, data: Uint8Array): boolean {
    return this.#connection?.sendImage(mimeType, data) ?? false;
  }

  audioEnded(): void {
    // If the connection breaks, its `closed` signal says so.
    this.#connection?.send({ kind: 'audio-end' }).catch(() => {});
  }

  /** Stops to read from a connection whose audio is far ahead of the client. */
  limit(isLimited: boolean): void {
    if (isLimited === this.#isLimited) return;
    this.#isLimited = isLimited;
    if (isLimited) this.#connection?.pause();
    else this.#connection?.resume();
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#connection?.close();
  }

  get #currentReply(): string | undefined {
    return this.#reply === undefined ? undefined : `${this.conn}/${this.#reply}`;
  }

  #onSignal(signal: LiveSignal): void {
    if (signal.kind === 'begun') this.#reply = signal.reply;
    if (signal.kind === 'done' || signal.kind === 'interrupted') this.#reply = undefined;
    this.#listener.onSignal(signal);
  }

  #deliver(deliver: () => void): void {
    if (this.#waiting === undefined) deliver();
    else this.#waiting.push(deliver);
  }
}
