import type { SimulatedClock } from '../../../src/net/index.ts';
import type { HelloMessage, ServerMessage } from '../../../src/server/live/live-messages.ts';
import { MemorySocket } from './memory-socket.ts';

const STEP_MS = 100;

interface QueuedReply {
  readonly reply: string;
  readonly rate: number;
  /** Samples that have arrived. */
  samples: number;
  playedMs: number;
}

/**
 * A client of the WebSocket as the documentation describes one: it plays audio by position on a simulated clock, reports
 * what it has played, and says so on its next socket. It outlives its sockets, and the processes of the server.
 */
export class SocketPlayer {
  /** Every piece of audio that was audible: reply and position, in steps of 100 ms. */
  readonly played: string[] = [];
  /** What happened, in order. */
  readonly events: string[] = [];
  readonly errors: unknown[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;
  ready: Extract<ServerMessage, { type: 'ready' }> | undefined;
  /** False for a client that reports nothing. */
  reports = true;
  frames = 0;
  #clock: SimulatedClock;
  #socket: MemorySocket | undefined;
  #queue: QueuedReply[] = [];
  readonly #numbers = new Map<number, QueuedReply>();
  #isPaused = false;
  #isPlaying = false;

  constructor(clock: SimulatedClock) {
    this.#clock = clock;
  }

  /** Opens a socket and says hello. On the next sockets, it resumes. */
  connect(
    accept: (socket: MemorySocket) => void,
    { clock = this.#clock, ...hello }: Partial<HelloMessage> & { clock?: SimulatedClock } = {},
  ): MemorySocket {
    if (clock !== this.#clock) this.#isPlaying = false;
    this.#clock = clock;
    const socket = this.open(accept);
    const current = this.#queue[0];
    const resume =
      this.ready === undefined
        ? undefined
        : {
            call: this.ready.call,
            ...(current && { reply: current.reply, played_ms: current.playedMs }),
          };
    this.send({ type: 'hello', ...(resume && { resume }), ...hello });
    this.#play();
    return socket;
  }

  /** Opens a socket, and says nothing. */
  open(accept: (socket: MemorySocket) => void): MemorySocket {
    const socket: MemorySocket = new MemorySocket({
      onText: (text) => {
        if (this.#socket === socket) this.#receive(JSON.parse(text) as ServerMessage);
      },
      onBytes: (bytes) => {
        if (this.#socket === socket) this.#receiveAudio(bytes);
      },
      onClose: (code, reason) => {
        if (this.#socket === socket) this.closed = { code, reason };
      },
    });
    this.#socket = socket;
    this.closed = undefined;
    this.#numbers.clear();
    accept(socket);
    return socket;
  }

  send(message: object): void {
    this.#socket?.receive(JSON.stringify(message));
  }

  sendAudio(pcm: Uint8Array): void {
    this.#socket?.receive(pcm);
  }

  #receive(message: ServerMessage): void {
    switch (message.type) {
      case 'ready':
        this.ready = message;
        this.#isPaused = message.paused;
        this.events.push(message.resumed ? 'resumed' : 'ready');
        this.#play();
        return;
      case 'reply': {
        const { reply, number, sample_rate: rate } = message;
        const known = this.#queue.find((one) => one.reply === reply);
        const queued = known ?? { reply, rate, samples: 0, playedMs: 0 };
        this.#numbers.set(number, queued);
        if (known !== undefined) return;
        this.#queue.push(queued);
        this.events.push('reply');
        return;
      }
      case 'pause':
        this.#isPaused = true;
        this.events.push(`pause at ${this.#queue[0]?.playedMs ?? 0}`);
        return;
      case 'resume':
        this.#isPaused = false;
        this.events.push('resume');
        this.#play();
        return;
      case 'flush': {
        this.#isPaused = false;
        const current = this.#queue[0];
        this.events.push(`flush at ${current?.playedMs ?? 0}`);
        this.#queue = [];
        if (current !== undefined && this.reports)
          this.send({ type: 'stopped', reply: current.reply, played_ms: current.playedMs });
        return;
      }
      case 'caption':
        this.events.push(`${message.speaker}: ${message.text}`);
        return;
      case 'error':
        this.errors.push(message.error);
        return;
      case 'ended':
        this.events.push('ended');
        return;
      default:
        message satisfies never;
    }
  }

  #receiveAudio(bytes: Uint8Array): void {
    this.frames++;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const reply = this.#numbers.get(view.getUint32(0, true));
    if (reply === undefined) throw new Error('audio came before its reply');
    const from = view.getUint32(4, true);
    const to = from + (bytes.byteLength - 8) / 2;
    if (from > reply.samples + 1) throw new Error(`audio is missing: ${reply.samples} to ${from}`);
    reply.samples = Math.max(reply.samples, to);
    this.#play();
  }

  #play(): void {
    if (this.#isPlaying) return;
    this.#isPlaying = true;
    const clock = this.#clock;
    clock.at(clock.now() + STEP_MS, () => {
      if (clock !== this.#clock) return;
      this.#isPlaying = false;
      if (this.#isPaused) return;
      // The next reply begins when all that arrived of this one was played.
      const isOver = (one: QueuedReply): boolean => one.playedMs * one.rate >= one.samples * 1000;
      while (this.#queue.length > 1 && this.#queue[0] !== undefined && isOver(this.#queue[0]))
        this.#queue.shift();
      const current = this.#queue[0];
      if (current === undefined || isOver(current)) return;
      this.played.push(`${current.reply} ${current.playedMs}`);
      current.playedMs = Math.min(
        (current.samples * 1000) / current.rate,
        current.playedMs + STEP_MS,
      );
      if (this.reports)
        this.send({ type: 'played', reply: current.reply, played_ms: current.playedMs });
      this.#play();
    });
  }
}
