import type { IncomingMessage } from 'node:http';
import type { ClientOptions, WebSocket } from 'ws';
import { importOptional, isModuleNotFound, omitUndefined } from '../../../core/internal.ts';
import { pinLookup } from '../../../egress/index.ts';
import { MissingPackageError } from '../../../models/index.ts';
import type { Clock } from '../../../net/index.ts';
import type { LiveLimits } from './live-limits.ts';

/** What a socket reports. `onClosed` is called once, after everything else. */
export interface SocketListener {
  readonly onOpen: () => void;
  readonly onMessage: (text: string) => void;
  readonly onClosed: (closing: SocketClosing) => void;
}

/** How a socket closed, or why it did not open. */
export interface SocketClosing {
  /** The close code. 1006: there was none. */
  readonly code: number;
  readonly reason: string;
  /** The HTTP status, if the server answered with one instead of opening a WebSocket. */
  readonly status?: number;
  /** What this side found: the server is silent, or its message is too large. */
  readonly cause?: 'silent' | 'oversized';
  readonly error?: Error;
}

/** Options of `openSocket`. */
export interface SocketOptions {
  /** The name of the model, for errors. */
  readonly model: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The address to connect to, if the egress rule determined one. */
  readonly address?: string;
  readonly limits: Required<LiveLimits>;
  readonly clock: Clock;
  readonly listener: SocketListener;
}

const ABNORMAL = 1006;
const MAX_ERROR_BODY = 2_000;

/**
 * Creates the WebSocket. It does not follow redirects, does not compress, and refuses messages
 * above the limit before it has read them.
 * @throws MissingPackageError if the package `ws` is not installed
 */
export async function openSocket(options: SocketOptions): Promise<LiveSocket> {
  const { WebSocket } = await importOptional(import('ws'), (reason) =>
    isModuleNotFound(reason) ? new MissingPackageError(options.model, 'ws') : reason,
  );
  const { url, headers, address, limits } = options;
  const clientOptions: ClientOptions = {
    headers: { 'user-agent': 'petrichor', ...headers },
    maxPayload: limits.maxMessageBytes,
    perMessageDeflate: false,
    followRedirects: false,
    ...omitUndefined({ lookup: address === undefined ? undefined : pinLookup(address) }),
  };
  return new LiveSocket(new WebSocket(url, clientOptions), options);
}

/** A WebSocket with keep-alive, limits and one report of its end. */
export class LiveSocket {
  readonly #socket: WebSocket;
  readonly #limits: Required<LiveLimits>;
  readonly #clock: Clock;
  readonly #listener: SocketListener;
  #lastReceivedAt: number;
  #isPaused = false;
  #isClosed = false;
  #error: Error | undefined;
  #cancelTimer: () => void = () => undefined;

  constructor(socket: WebSocket, { limits, clock, listener }: SocketOptions) {
    this.#socket = socket;
    this.#limits = limits;
    this.#clock = clock;
    this.#listener = listener;
    this.#lastReceivedAt = clock.now();
    socket.on('open', () => {
      this.#received();
      this.#schedulePing();
      listener.onOpen();
    });
    socket.on('message', (data) => {
      this.#received();
      listener.onMessage(data.toString('utf8'));
    });
    socket.on('pong', () => this.#received());
    // `close` follows an error. Without a listener, an error would end the process.
    socket.on('error', (error) => (this.#error = error));
    socket.on('unexpected-response', (_request, response) => void this.#refused(response));
    socket.on('close', (code, reason) => this.#end({ code, reason: reason.toString('utf8') }));
  }

  /** Bytes that wait to be sent. */
  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** Sends a message. Resolves when it is handed to the operating system, and rejects if it is not. */
  async send(text: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#socket.send(text, (error) =>
      error === undefined || error === null ? resolve() : reject(error),
    );
    return promise;
  }

  /** Sends a message that may be dropped. Returns false if it was. */
  offer(text: string): boolean {
    if (this.#isClosed || this.bufferedBytes > this.#limits.maxBufferedBytes) return false;
    this.#socket.send(text, () => undefined);
    return true;
  }

  pause(): void {
    if (this.#isClosed) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (this.#isClosed) return;
    this.#isPaused = false;
    this.#received();
    this.#socket.resume();
  }

  /** Closes the socket. It is destroyed if the server does not confirm in time. */
  close(code: number): void {
    if (this.#isClosed) return;
    this.resume();
    this.#cancelTimer();
    this.#cancelTimer = this.#clock.at(this.#clock.now() + this.#limits.closeTimeoutMs, () =>
      this.terminate(),
    );
    this.#socket.close(code);
  }

  /** Destroys the socket. */
  terminate(): void {
    this.#socket.terminate();
    this.#end({ code: ABNORMAL, reason: '' });
  }

  #received(): void {
    this.#lastReceivedAt = this.#clock.now();
  }

  #schedulePing(): void {
    const { pingIntervalMs, deadAfterMs } = this.#limits;
    this.#cancelTimer();
    this.#cancelTimer = this.#clock.at(this.#clock.now() + pingIntervalMs, () => {
      // A paused socket reads no pong.
      const isSilent = this.#clock.now() - this.#lastReceivedAt >= deadAfterMs;
      if (isSilent && !this.#isPaused) {
        this.#socket.terminate();
        this.#end({ code: ABNORMAL, reason: '', cause: 'silent' });
        return;
      }
      this.#socket.ping();
      this.#schedulePing();
    });
  }

  async #refused(response: IncomingMessage): Promise<void> {
    const status = response.statusCode ?? 0;
    let reason = '';
    try {
      for await (const chunk of response) {
        reason += String(chunk);
        if (reason.length > MAX_ERROR_BODY) break;
      }
    } catch {
      // The status alone is enough.
    }
    this.#socket.terminate();
    this.#end({ code: ABNORMAL, reason: reason.slice(0, MAX_ERROR_BODY), status });
  }

  #end(closing: SocketClosing): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancelTimer();
    const error = this.#error;
    const cause = isOversized(error) ? 'oversized' : closing.cause;
    this.#listener.onClosed({ ...closing, ...omitUndefined({ cause, error }) });
  }
}

function isOversized(error: Error | undefined): boolean {
  return (
    error !== undefined && 'code' in error && error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
  );
}
