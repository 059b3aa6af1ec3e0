import type { WebSocket } from 'ws';
import { decodeJson } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { Caller } from '../auth/api-keys.ts';
import { HttpError, toHttpError } from '../http/http-error.ts';
import { replacedCallError } from './call-errors.ts';
import type { SocketCall } from './socket-call.ts';
import type { CallHolder, SocketCalls } from './socket-calls.ts';
import { parseSocketMessage } from './live-messages.ts';
import {
  CLOSE_GOING_AWAY,
  CLOSE_NORMAL,
  GOING_AWAY_REASON,
  SocketLimits,
} from './socket-limits.ts';
import { SocketWatch } from './socket-watch.ts';
import type { SocketMessage, HelloMessage, ServerMessage } from './live-messages.ts';

/** How long a client may take for its first message. */
const HELLO_MS = 10_000;
/** Above so many bytes that wait to be sent, captions are left out. */
const CONGESTED_BYTES = 65_536;
/** More than the audio of four windows: a client that does not read is disconnected. */
const MAX_BUFFERED_BYTES = 8 * 1_048_576;
/** Bytes that may follow the first message before it is accepted. The socket is not read then; these were read with it. */
const MAX_EARLY_BYTES = 1_048_576;
/** The close code of an error is this and its HTTP status. */
const ERROR_CODE = 4_000;

/** What a socket needs of its server. */
export interface ClientSocketServices {
  readonly calls: SocketCalls;
  readonly clock: Clock;
  /** @throws HttpError 401, 403, 429 */
  readonly authenticate: (key: string | undefined) => Promise<Caller>;
  readonly isKeyValid: (caller: Caller) => Promise<boolean>;
  /** Called when the first message was accepted or refused, with its HTTP status. */
  readonly onOpened: (status: number, caller: Caller | undefined) => void;
  readonly onClosed: () => void;
  readonly onError: (error: unknown) => void;
  readonly keepAliveMs: number;
  readonly readerTimeoutMs: number;
}

/** The socket of one client. Its first message must be `hello`; everything else follows its acceptance. */
export class ClientSocket implements CallHolder {
  readonly #socket: WebSocket;
  readonly #sessionId: string;
  readonly #services: ClientSocketServices;
  readonly #limits: SocketLimits;
  #caller: Caller | undefined;
  #call: SocketCall | undefined;
  #state: 'new' | 'opening' | 'open' | 'closed' = 'new';
  /** What came together with the first message. */
  #early: { readonly data: Uint8Array; readonly isBinary: boolean }[] = [];
  #earlyBytes = 0;
  #isGone = false;
  readonly #watch: SocketWatch;
  #cancelTimer: () => void;

  constructor(socket: WebSocket, sessionId: string, services: ClientSocketServices) {
    const { clock } = services;
    this.#socket = socket;
    this.#sessionId = sessionId;
    this.#services = services;
    this.#limits = new SocketLimits(clock, {
      messages: 'messages',
      journaled: 'edges of speech and reports of stopped audio',
    });
    this.#watch = new SocketWatch(socket, {
      ...services,
      findVoice: () => this.#call?.voice,
      onGone: () => this.#terminate(),
      onFailed: (error) => this.#fail(error),
    });
    this.#cancelTimer = clock.at(clock.now() + HELLO_MS, () =>
      this.#fail(new HttpError(408, `The first message must be hello, within ${HELLO_MS} ms.`)),
    );
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('close', () => this.#onClosed());
    // `close` follows an error. Without a listener, an error would end the process.
    socket.on('error', () => {});
  }

  get isCongested(): boolean {
    return this.#socket.bufferedAmount > CONGESTED_BYTES;
  }

  readonly send = (message: ServerMessage): void => {
    if (this.#state !== 'closed') this.#socket.send(JSON.stringify(message));
  };

  readonly sendAudio = (frame: Uint8Array): void => {
    if (this.#state === 'closed') return;
    this.#socket.send(frame);
    if (this.#socket.bufferedAmount > MAX_BUFFERED_BYTES) this.#terminate();
  };

  readonly replace = (): void => {
    this.#call = undefined;
    this.#fail(replacedCallError());
  };

  /** The server closes. The client may connect again. */
  goAway(): void {
    this.#end(CLOSE_GOING_AWAY, GOING_AWAY_REASON);
  }

  #receive(data: Uint8Array, isBinary: boolean): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'opening') {
      this.#early.push({ data, isBinary });
      this.#earlyBytes += data.byteLength;
      if (this.#earlyBytes > MAX_EARLY_BYTES) this.#terminate();
      return;
    }
    try {
      if (isBinary) this.#receiveAudio(data);
      else this.#receiveMessage(new TextDecoder().decode(data));
    } catch (error) {
      this.#fail(error);
    }
  }

  #receiveAudio(pcm: Uint8Array): void {
    if (this.#state !== 'open' || this.#call === undefined) throw helloError();
    if (pcm.byteLength % 2 !== 0)
      throw new HttpError(
        400,
        `A binary frame must be PCM with 16 bits; it has ${pcm.byteLength} bytes, which is odd.`,
      );
    this.#limits.takeAudio(pcm.byteLength, this.#call.inputRate);
    this.#call.sendAudio(pcm);
  }

  #receiveMessage(text: string): void {
    this.#limits.takeMessage();
    const message = parseSocketMessage(decodeJson(text, 'message'));
    if (this.#state === 'new') {
      if (message.type !== 'hello') throw helloError();
      void this.#open(message);
      return;
    }
    this.#run(message);
  }

  #run(message: SocketMessage): void {
    switch (message.type) {
      case 'hello':
        throw new HttpError(400, 'hello must be the first message, and comes once.');
      case 'played':
        this.#call?.played(message.reply, message.played_ms);
        return;
      case 'stopped':
        this.#limits.takeJournaled();
        this.#call?.voice?.stopped(message.reply, message.played_ms);
        return;
      case 'speech_started':
      case 'speech_stopped':
        this.#limits.takeJournaled();
        this.#call?.edge(message.type === 'speech_started' ? 'started' : 'stopped');
        return;
      case 'hang_up':
        void this.#hangUp();
        return;
      default:
        message satisfies never;
    }
  }

  /** Never rejects. */
  async #open(hello: HelloMessage): Promise<void> {
    const { calls, authenticate, onOpened } = this.#services;
    this.#state = 'opening';
    this.#cancelTimer();
    // What follows the first message is read when that is accepted.
    this.#socket.pause();
    try {
      this.#caller = await authenticate(hello.key);
      if (this.#isClosed) return;
      this.#call = await calls.open(this, this.#caller, this.#sessionId, hello);
    } catch (error) {
      this.#socket.resume();
      onOpened(toHttpError(error).status, this.#caller);
      this.#fail(error);
      return;
    }
    if (this.#isClosed) {
      calls.release(this);
      return;
    }
    this.#socket.resume();
    this.#state = 'open';
    onOpened(101, this.#caller);
    this.#watch.start(this.#caller);
    for (const { data, isBinary } of this.#early.splice(0)) this.#receive(data, isBinary);
  }

  get #isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** Never rejects. */
  async #hangUp(): Promise<void> {
    const { calls } = this.#services;
    try {
      await calls.hangUp(this);
      this.send({ type: 'ended' });
      this.#end(CLOSE_NORMAL, 'hang_up');
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Reports an error to the client, and closes the socket. */
  #fail(error: unknown): void {
    if (this.#isClosed) return;
    const { type, message, status, details } = toHttpError(error);
    if (status >= 500) this.#services.onError(error);
    const code = details?.['error_code'];
    this.send({ type: 'error', error: { type, message, ...(details && { details }) } });
    this.#end(ERROR_CODE + status, typeof code === 'string' ? code : type);
  }

  #end(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#state = 'closed';
    this.#cancelTimer();
    this.#watch.stop();
    this.#socket.close(code, reason);
    this.#services.calls.release(this);
  }

  #terminate(): void {
    this.#socket.terminate();
    this.#onClosed();
  }

  #onClosed(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#state = 'closed';
    this.#early = [];
    this.#cancelTimer();
    this.#watch.stop();
    this.#services.calls.release(this);
    this.#services.onClosed();
  }
}

function helloError(): HttpError {
  return new HttpError(400, 'The first message must be hello.');
}
