import type { WebSocket } from 'ws';
import type { VoiceCall } from '../../live/index.ts';
import type { Clock } from '../../net/index.ts';
import type { Caller } from '../auth/api-keys.ts';
import { HttpError } from '../http/http-error.ts';
import { lostCallError } from './call-errors.ts';

/** A call whose session has no connection to its model for so long is ended. */
const LOST_MS = 60_000;

export interface SocketWatchOptions {
  readonly clock: Clock;
  readonly keepAliveMs: number;
  readonly readerTimeoutMs: number;
  readonly isKeyValid: (caller: Caller) => Promise<boolean>;
  /** The call, when it has begun. */
  readonly findVoice: () => VoiceCall | undefined;
  /** The client answers no pings. */
  readonly onGone: () => void;
  /** The key is no longer valid, or the call has no connection. */
  readonly onFailed: (error: unknown) => void;
}

/** Checks at intervals that the client of an open socket, its key and its call are still there. */
export class SocketWatch {
  readonly #socket: WebSocket;
  readonly #options: SocketWatchOptions;
  #lastPongAt = 0;
  #connectedAt = 0;
  #isStopped = false;
  #cancelTimer = (): void => {};

  constructor(socket: WebSocket, options: SocketWatchOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('pong', () => (this.#lastPongAt = options.clock.now()));
  }

  start(caller: Caller): void {
    const now = this.#options.clock.now();
    this.#lastPongAt = now;
    this.#connectedAt = now;
    this.#schedule(caller);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
  }

  #schedule(caller: Caller): void {
    const { clock, keepAliveMs } = this.#options;
    this.#cancelTimer = clock.at(clock.now() + keepAliveMs, () => void this.#check(caller));
  }

  /** Never rejects. */
  async #check(caller: Caller): Promise<void> {
    const { clock, isKeyValid, keepAliveMs, readerTimeoutMs, findVoice } = this.#options;
    const { onGone, onFailed } = this.#options;
    try {
      if (!(await isKeyValid(caller))) throw new HttpError(401, 'The key is no longer valid.');
      if (this.#isStopped) return;
      const now = clock.now();
      if (now - this.#lastPongAt > keepAliveMs + readerTimeoutMs) {
        onGone();
        return;
      }
      const voice = findVoice();
      if (voice?.inputAudio !== undefined) this.#connectedAt = now;
      if (voice?.isAttached === false || now - this.#connectedAt > LOST_MS) throw lostCallError();
      this.#socket.ping();
      this.#schedule(caller);
    } catch (error) {
      if (!this.#isStopped) onFailed(error);
    }
  }
}
