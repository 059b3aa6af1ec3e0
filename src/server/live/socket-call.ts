import type {
  LiveClient,
  LiveMedia,
  LivePartial,
  OpenConnection,
  VoiceCall,
} from '../../live/index.ts';
import { InputQueue } from '../../live/internal.ts';
import type { ClientEdge } from '../../live/internal.ts';
import { encodeAudio } from './live-messages.ts';
import type { ResumedCall, ServerMessage } from './live-messages.ts';

/** The socket that a call has at present. */
export interface CallSocket {
  readonly send: (message: ServerMessage) => void;
  readonly sendAudio: (frame: Uint8Array) => void;
  /** True if the client is slow: captions are not worth waiting for. */
  readonly isCongested: boolean;
}

/** A reply whose audio was sent, and is kept until the client has played it. */
interface SentReply {
  readonly number: number;
  readonly sampleRate: number;
  frames: LiveMedia[];
  isAnnounced: boolean;
}

/** Replies whose audio is kept: the current one, and one that was cut. */
const MAX_REPLIES = 4;
const DEFAULT_OUTPUT_RATE = 24_000;
/** Five seconds of audio with 48,000 samples per second. */
const MAX_EARLY_BYTES = 480_000;

/**
 * A call of a client over WebSockets. It outlives a socket: audio that the client has not reported as played is kept, and
 * sent again on the next socket. That is at most what the hub releases ahead, four windows.
 */
export class SocketCall implements LiveClient {
  readonly id: string;
  #inputRate: number;
  #voice: VoiceCall | undefined;
  #socket: CallSocket | undefined;
  readonly #replies = new Map<string, SentReply>();
  #replyCount = 0;
  #outputRate = DEFAULT_OUTPUT_RATE;
  #isPaused = false;
  /** What the user says until this process has the session. */
  readonly #early = new InputQueue();
  /** The audio that the client has was dropped while it had no socket. */
  #isFlushed = false;

  constructor(id: string, inputRate: number) {
    this.id = id;
    this.#inputRate = inputRate;
  }

  get inputRate(): number {
    return this.#inputRate;
  }

  get hasSocket(): boolean {
    return this.#socket !== undefined;
  }

  /** The hub's side of the call, when it has begun. */
  get voice(): VoiceCall | undefined {
    return this.#voice;
  }

  begin(voice: VoiceCall): void {
    this.#voice = voice;
  }

  /** Gives the call a socket. What the client has not played is sent again. */
  attach(socket: CallSocket, inputRate: number, resumed?: ResumedCall): void {
    const { reply, played_ms = 0 } = resumed ?? {};
    this.#inputRate = inputRate;
    if (reply !== undefined) this.played(reply, played_ms);
    this.#socket = socket;
    socket.send({
      type: 'ready',
      call: this.id,
      resumed: resumed !== undefined,
      paused: this.#isPaused,
    });
    if (this.#isFlushed) socket.send({ type: 'flush' });
    this.#isFlushed = false;
    for (const [name, sent] of this.#replies) {
      sent.isAnnounced = false;
      const fromMs = name === reply ? played_ms : 0;
      for (const frame of sent.frames) this.#send(name, sent, cutBefore(frame, fromMs));
    }
  }

  /** The socket is gone. Returns false if the call has another one by now. */
  detach(socket: CallSocket): boolean {
    if (this.#socket !== socket) return false;
    this.#socket = undefined;
    return true;
  }

  /** Sends audio of the user. What comes before the session is here is kept. */
  sendAudio(pcm: Uint8Array): void {
    if (pcm.byteLength === 0) return;
    this.#early.addAudio(pcm, MAX_EARLY_BYTES);
    this.#sendEarly();
  }

  /** An edge of the client's voice detection. */
  edge(edge: ClientEdge): void {
    this.#early.addEdge(edge);
    this.#sendEarly();
  }

  played(reply: string, playedMs: number): void {
    for (const [name, sent] of this.#replies) {
      if (name === reply) {
        sent.frames = sent.frames.filter(({ toMs }) => toMs > playedMs);
        break;
      }
      // Replies are played in their order.
      if (this.#replies.has(reply)) this.#replies.delete(name);
    }
    this.#voice?.played(reply, playedMs);
  }

  readonly onConnected = ({ outputAudio }: OpenConnection): void => {
    this.#outputRate = outputAudio.sampleRate;
    this.#sendEarly();
  };

  readonly onAudio = (frame: LiveMedia): void => {
    let sent = this.#replies.get(frame.reply);
    if (sent === undefined) {
      sent = {
        number: ++this.#replyCount,
        sampleRate: this.#outputRate,
        frames: [],
        isAnnounced: false,
      };
      this.#replies.set(frame.reply, sent);
      for (const old of [...this.#replies.keys()].slice(0, -MAX_REPLIES)) this.#replies.delete(old);
    }
    sent.frames.push(frame);
    this.#send(frame.reply, sent, frame);
  };

  readonly onPause = (): void => {
    this.#isPaused = true;
    this.#socket?.send({ type: 'pause' });
  };

  readonly onResume = (): void => {
    this.#isPaused = false;
    this.#socket?.send({ type: 'resume' });
  };

  readonly onFlush = (): void => {
    this.#isPaused = false;
    this.#replies.clear();
    if (this.#socket === undefined) this.#isFlushed = true;
    else this.#socket.send({ type: 'flush' });
  };

  readonly onPartial = (partial: LivePartial): void => {
    if (this.#socket === undefined || this.#socket.isCongested) return;
    if (partial.kind === 'heard') {
      this.#socket.send({ type: 'caption', speaker: 'user', reply: null, text: partial.text });
      return;
    }
    const { reply, text, form } = partial;
    if (form !== 'thought') this.#socket.send({ type: 'caption', speaker: 'agent', reply, text });
  };

  #sendEarly(): void {
    const voice = this.#voice;
    if (voice?.isAttached !== true) return;
    for (const input of this.#early.takeAll()) {
      if ('pcm' in input) voice.sendAudio(input.pcm);
      else if (input.edge === 'started') voice.speechStarted();
      else voice.speechStopped();
    }
  }

  #send(reply: string, sent: SentReply, frame: LiveMedia): void {
    if (this.#socket === undefined) return;
    const { number, sampleRate } = sent;
    if (!sent.isAnnounced)
      this.#socket.send({ type: 'reply', reply, number, sample_rate: sampleRate });
    sent.isAnnounced = true;
    const position = Math.round((frame.fromMs * sampleRate) / 1000);
    this.#socket.sendAudio(encodeAudio(number, position, frame.data));
  }
}

/** The part of a frame after a position in the reply. */
function cutBefore(frame: LiveMedia, ms: number): LiveMedia {
  if (ms <= frame.fromMs) return frame;
  const { reply, data, fromMs, toMs } = frame;
  const samples = data.byteLength / 2;
  const skipped = Math.floor(((ms - fromMs) / (toMs - fromMs)) * samples);
  const position = fromMs + ((toMs - fromMs) * skipped) / samples;
  return { reply, data: data.subarray(2 * skipped), fromMs: position, toMs };
}
