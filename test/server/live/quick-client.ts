import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { ServerMessage } from '../../../src/server/live/live-messages.ts';

/** A client that plays at once what it receives, and reconnects. */
export class QuickClient {
  readonly #url: string;
  /** Each sample that was played, by reply: the position of the next one. */
  readonly played: Map<string, number> = new Map();
  readonly twice: string[] = [];
  readonly errors: ServerMessage[] = [];
  /** When the first audio since the last reconnection came, in milliseconds of `performance.now()`. */
  playedAt: number | undefined;
  readonly #numbers = new Map<number, { readonly reply: string; readonly rate: number }>();
  #call: string | undefined;
  #reply: string | undefined;
  #socket: WebSocket | undefined;

  constructor(url: string) {
    this.#url = url.replace('http', 'ws');
  }

  /** Connects, again and again until the server has the session. Rejects when the server refuses it for good. */
  async connect(): Promise<void> {
    this.playedAt = undefined;
    while (!(await this.#tryToConnect())) await sleep(5);
  }

  /** True if the call has begun or continues. */
  async #tryToConnect(): Promise<boolean> {
    const socket = new WebSocket(this.#url, 'petrichor.live.v1');
    this.#socket = socket;
    this.#numbers.clear();
    const { promise: ready, resolve, reject } = Promise.withResolvers<boolean>();
    // A connection that was ready has nobody who waits for it.
    ready.catch(() => {});
    socket.on('error', () => {});
    socket.on('close', (code, reason) => {
      // 4400 to 4499 stand for the statuses of HTTP that no repetition mends.
      if (code >= 4_400 && code < 4_500)
        reject(new Error(`closed with ${code}: ${String(reason)}`));
      else resolve(false);
    });
    socket.on('message', (data, isBinary) => {
      if (isBinary) this.#play(data);
      else this.#receive(JSON.parse(String(data)) as ServerMessage, () => resolve(true));
    });
    const opened = once(socket, 'open').then(
      () => true,
      () => false,
    );
    const isOpen = await Promise.race([opened, ready]);
    if (!isOpen) return false;
    const resume = this.#call !== undefined && {
      call: this.#call,
      ...(this.#reply !== undefined && {
        reply: this.#reply,
        played_ms: (this.played.get(this.#reply) ?? 0) / 24,
      }),
    };
    this.#send({ type: 'hello', ...(resume !== false && { resume }) });
    return ready;
  }

  speak(ms: number, loudness: number): void {
    for (let at = 0; at < ms; at += 20)
      this.#socket?.send(new Uint8Array(new Int16Array(320).fill(loudness).buffer));
  }

  close(): void {
    this.#socket?.terminate();
  }

  #send(message: object): void {
    this.#socket?.send(JSON.stringify(message));
  }

  #receive(message: ServerMessage, onReady: () => void): void {
    switch (message.type) {
      case 'ready':
        this.#call = message.call;
        onReady();
        return;
      case 'reply':
        this.#numbers.set(message.number, { reply: message.reply, rate: message.sample_rate });
        return;
      case 'flush':
        if (this.#reply !== undefined)
          this.#send({ type: 'stopped', reply: this.#reply, played_ms: this.#playedMs(24_000) });
        return;
      case 'error':
        this.errors.push(message);
        return;
      default:
    }
  }

  #play(bytes: Buffer): void {
    const found = this.#numbers.get(bytes.readUInt32LE(0));
    if (found === undefined) throw new Error('audio came before its reply');
    const { reply, rate } = found;
    const from = bytes.readUInt32LE(4);
    const next = this.played.get(reply) ?? 0;
    // It skips what it has, as the documentation says. More than a sample of rounding would be a repetition by the server.
    if (from < next - 1) this.twice.push(`${reply} ${from} ${next}`);
    this.played.set(reply, Math.max(next, from + (bytes.byteLength - 8) / 2));
    this.#reply = reply;
    this.playedAt ??= performance.now();
    this.#send({ type: 'played', reply, played_ms: this.#playedMs(rate) });
  }

  #playedMs(rate: number): number {
    return ((this.played.get(this.#reply ?? '') ?? 0) * 1000) / rate;
  }
}
