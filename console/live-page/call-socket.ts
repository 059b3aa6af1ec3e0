import type { ServerMessage } from '../../src/server/live/live-messages.ts';

const PROTOCOL = 'petrichor.live.v1';
const RETRY_MS = [0, 500, 1_000, 2_000, 4_000];
/** Close codes after which another attempt can succeed: a broken connection, a server that stops, one without the session. */
const RETRIED = new Set([1001, 1005, 1006, 1012, 1013, 4408, 4500, 4503]);

/** What a call is opened with. */
export interface CallOptions {
  /** The URL of the WebSocket. */
  readonly url: string;
  readonly key: string;
  readonly inputRate: number;
  readonly onMessage: (message: ServerMessage) => void;
  readonly onAudio: (audio: {
    readonly reply: string;
    readonly position: number;
    readonly pcm: Int16Array;
    readonly rate: number;
  }) => void;
  /** The call is over. `undefined`: as the user wanted. */
  readonly onEnded: (problem: string | undefined) => void;
}

/** A call that outlives its sockets: it reconnects, and says what was played. */
export class CallSocket {
  readonly #options: CallOptions;
  readonly #replies = new Map<number, { readonly reply: string; readonly rate: number }>();
  #socket: WebSocket | undefined;
  #call: string | undefined;
  #played: { readonly reply: string; readonly playedMs: number } | undefined;
  #attempt = 0;
  #isReady = false;
  #isOver = false;
  #problem: string | undefined;

  constructor(options: CallOptions) {
    this.#options = options;
    this.#connect();
  }

  sendAudio(pcm: Int16Array<ArrayBuffer>): void {
    // Audio waits for nothing: what cannot be sent now is not worth sending.
    if (this.#isOpen && (this.#socket?.bufferedAmount ?? 0) < 65_536) this.#socket?.send(pcm);
  }

  speech(edge: 'started' | 'stopped'): void {
    this.#send({ type: `speech_${edge}` });
  }

  played(reply: string, playedMs: number): void {
    this.#played = { reply, playedMs };
    this.#send({ type: 'played', reply, played_ms: playedMs });
  }

  stopped(reply: string, playedMs: number): void {
    this.#played = { reply, playedMs };
    this.#send({ type: 'stopped', reply, played_ms: playedMs });
  }

  hangUp(): void {
    if (this.#isReady) this.#send({ type: 'hang_up' });
    else this.#end(undefined);
  }

  #connect(): void {
    const { url, key, inputRate } = this.#options;
    const socket = new WebSocket(url, PROTOCOL);
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    this.#replies.clear();
    socket.addEventListener('open', () => {
      const hello = {
        type: 'hello',
        ...(key !== '' && { key }),
        input_rate: inputRate,
        ...(this.#call !== undefined && {
          resume: {
            call: this.#call,
            ...(this.#played && { reply: this.#played.reply, played_ms: this.#played.playedMs }),
          },
        }),
      };
      socket.send(JSON.stringify(hello));
    });
    socket.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (typeof data !== 'string') this.#receiveAudio(data);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the page and the server are of one release
      else this.#receive(JSON.parse(data) as ServerMessage);
    });
    socket.addEventListener('close', ({ code }) => this.#onClosed(code));
  }

  #receive(message: ServerMessage): void {
    switch (message.type) {
      case 'ready':
        this.#call = message.call;
        this.#isReady = true;
        this.#attempt = 0;
        break;
      case 'reply':
        this.#replies.set(message.number, { reply: message.reply, rate: message.sample_rate });
        break;
      case 'error':
        this.#problem = message.error.message;
        break;
      default:
    }
    this.#options.onMessage(message);
  }

  #receiveAudio(data: ArrayBuffer): void {
    const view = new DataView(data);
    const reply = this.#replies.get(view.getUint32(0, true));
    if (reply === undefined) return;
    const position = view.getUint32(4, true);
    this.#options.onAudio({ ...reply, position, pcm: new Int16Array(data, 8) });
  }

  #onClosed(code: number): void {
    this.#isReady = false;
    if (this.#isOver) return;
    if (code === 1000) return this.#end(undefined);
    const delay = RETRY_MS[this.#attempt++];
    if (!RETRIED.has(code) || delay === undefined)
      return this.#end(this.#problem ?? 'The connection was lost.');
    setTimeout(() => {
      if (!this.#isOver) this.#connect();
    }, delay);
  }

  #end(problem: string | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket?.close();
    this.#options.onEnded(problem);
  }

  #send(message: object): void {
    if (this.#isOpen) this.#socket?.send(JSON.stringify(message));
  }

  get #isOpen(): boolean {
    return this.#isReady && this.#socket?.readyState === WebSocket.OPEN;
  }
}
