import { EventEmitter } from 'node:events';
import type { WebSocket, WebSocketEvents } from 'ws';

/** The client's end of a socket in memory. */
export interface SocketEnd {
  readonly onText: (text: string) => void;
  readonly onBytes: (bytes: Uint8Array) => void;
  readonly onClose: (code: number, reason: string) => void;
}

/** The server's end of a WebSocket in memory. What is sent arrives in order, before the next turn of the event loop. */
export class MemorySocket extends EventEmitter<WebSocketEvents> implements WebSocket {
  readonly protocol = 'petrichor.live.v1';
  readonly #client: SocketEnd;
  #incoming: { readonly data: Buffer; readonly isBinary: boolean }[] = [];
  #isPaused = false;
  #isClosed = false;
  /** What a slow client has not read. */
  bufferedAmount = 0;
  /** False for a client that is gone without a word: it answers no ping. */
  answersPings = true;

  constructor(client: SocketEnd) {
    super();
    this.#client = client;
  }

  get readyState(): number {
    return this.#isClosed ? 3 : 1;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(data: string | Uint8Array): void {
    if (this.#isClosed) return;
    queueMicrotask(() => {
      if (typeof data === 'string') this.#client.onText(data);
      else this.#client.onBytes(data);
    });
  }

  ping(): void {
    if (this.answersPings) queueMicrotask(() => this.emit('pong'));
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    for (const { data, isBinary } of this.#incoming.splice(0)) this.emit('message', data, isBinary);
  }

  close(code = 1005, reason = ''): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    queueMicrotask(() => {
      this.#client.onClose(code, reason);
      this.emit('close', code, Buffer.from(reason));
    });
  }

  terminate(): void {
    this.close(1006);
  }

  /** The client sends something. */
  receive(data: string | Uint8Array): void {
    if (this.#isClosed) return;
    const message = { data: Buffer.from(data), isBinary: typeof data !== 'string' };
    if (this.#isPaused) this.#incoming.push(message);
    else this.emit('message', message.data, message.isBinary);
  }

  /** The connection breaks. */
  break(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#client.onClose(1006, '');
    this.emit('close', 1006, Buffer.alloc(0));
  }
}
