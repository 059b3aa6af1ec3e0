import { setImmediate as nextTick } from 'node:timers/promises';
import { contentText } from '../../src/core/index.ts';
import type { LogEvent } from '../../src/core/index.ts';
import type { LiveHub } from '../../src/live/hub/live-hub.ts';
import type { VoiceCall, LiveClient } from '../../src/live/hub/live-client.ts';
import { audioByteLength } from '../../src/live/models/audio-format.ts';
import type { LiveMedia } from '../../src/live/models/live-model.ts';
import type { SimulatedClock } from '../../src/net/index.ts';
import type { Session } from '../../src/runtime/index.ts';

const FRAME_MS = 20;
const REPORT_MS = 100;
const LOUD = 4_000;

/** A client that plays audio on a simulated clock, and reports what it has played. */
export class SimulatedClient implements LiveClient {
  readonly #clock: SimulatedClock;
  readonly #onFrame: (frame: string) => void;
  /** What happened, in order: pauses, flushes, and the milliseconds of each reply that were audible. */
  readonly heard: string[] = [];
  call: VoiceCall | undefined;
  /** False for a client that does not report what it has played when its audio is dropped. */
  reportsStops = true;
  #queue: LiveMedia[] = [];
  #isPaused = false;
  #isPlaying = false;
  #reply = '';
  #playedMs = 0;

  constructor(clock: SimulatedClock, onFrame: (frame: string) => void = () => {}) {
    this.#clock = clock;
    this.#onFrame = onFrame;
  }

  readonly onAudio = (audio: LiveMedia): void => {
    if (audio.reply !== this.#reply) {
      this.#reply = audio.reply;
      this.#playedMs = 0;
      this.heard.push('reply');
    }
    this.#onFrame(`${audio.reply} ${audio.fromMs}`);
    this.#queue.push(audio);
    this.#play();
  };
  readonly onPause = (): void => {
    this.#isPaused = true;
    this.heard.push(`pause at ${this.#playedMs}`);
  };
  readonly onResume = (): void => {
    this.#isPaused = false;
    this.heard.push('resume');
    this.#play();
  };
  readonly onFlush = (): void => {
    this.#isPaused = false;
    this.#queue = [];
    this.heard.push(`flush at ${this.#playedMs}`);
    if (this.reportsStops) this.call?.stopped(this.#reply, this.#playedMs);
  };

  #play(): void {
    if (this.#isPlaying) return;
    this.#isPlaying = true;
    this.#clock.at(this.#clock.now() + REPORT_MS, () => {
      this.#isPlaying = false;
      if (this.#isPaused) return;
      const last = this.#queue.at(-1);
      if (last === undefined) return;
      this.#playedMs = Math.min(last.toMs, this.#playedMs + REPORT_MS);
      this.#queue = this.#queue.filter(({ toMs }) => toMs > this.#playedMs);
      this.call?.played(this.#reply, this.#playedMs);
      if (this.#queue.length > 0) this.#play();
    });
  }
}

/** A call of a session on a simulated clock. */
export class SimulatedCall {
  readonly session: Session;
  readonly client: SimulatedClient;
  readonly #clock: SimulatedClock;
  readonly #call: VoiceCall;

  private constructor(
    session: Session,
    client: SimulatedClient,
    clock: SimulatedClock,
    call: VoiceCall,
  ) {
    this.session = session;
    this.client = client;
    this.#clock = clock;
    this.#call = call;
  }

  /** Begins a call, and waits until its connection is open. */
  static async begin(
    hub: LiveHub,
    session: Session,
    clock: SimulatedClock,
    onFrame?: (frame: string) => void,
  ): Promise<SimulatedCall> {
    const client = new SimulatedClient(clock, onFrame);
    const call = await hub.call(session, client);
    client.call = call;
    const begun = new SimulatedCall(session, client, clock, call);
    await begun.until(() => call.inputAudio !== undefined);
    await begun.pass(0);
    return begun;
  }

  /** Speaks for a time, and is silent long enough to be understood. */
  async say(ms: number): Promise<void> {
    await this.speak(ms);
    await this.silence(200);
  }

  async speak(ms: number): Promise<void> {
    await this.#send(ms, LOUD);
  }

  async silence(ms: number): Promise<void> {
    await this.#send(ms, 0);
  }

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    await passTime(this.#clock, ms);
  }

  /** Lets time pass until something is true, at most a minute. */
  async until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
    for (let ms = 0; ms <= 60_000; ms += FRAME_MS) {
      if (await isTrue()) return;
      await this.pass(FRAME_MS);
    }
    throw new Error(`It did not happen within a minute: ${(await this.log()).join(', ')}`);
  }

  async hangUp(): Promise<void> {
    await this.#call.hangUp();
    await this.pass(100);
  }

  /** The log, in short. */
  async log(): Promise<readonly string[]> {
    return readLog(this.session);
  }

  async #send(ms: number, loudness: number): Promise<void> {
    for (let at = 0; at < ms; at += FRAME_MS) {
      const format = this.#call.inputAudio ?? { encoding: 'pcm16', sampleRate: 16_000 };
      const frame = new Int16Array(audioByteLength(format, FRAME_MS) / 2).fill(loudness);
      this.#call.sendAudio(new Uint8Array(frame.buffer));
      await this.pass(FRAME_MS);
    }
  }
}

/** Advances a simulated clock in small steps, with time for commits between them. */
export async function passTime(clock: SimulatedClock, ms: number): Promise<void> {
  for (let at = 0; at <= ms; at += FRAME_MS) {
    for (let turn = 0; turn < 12; turn++) {
      await nextTick();
      clock.advance(0);
    }
    if (at < ms) clock.advance(FRAME_MS);
  }
}

/** The log of a session, in short. */
export async function readLog(session: Session): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const event of session.events(0, { follow: false }))
    lines.push(describeEvent(event as LogEvent));
  return lines;
}

/** An event of the log, in short. */
export function describeEvent(event: LogEvent): string {
  switch (event.type) {
    case 'user.message':
      return `user: ${contentText(event.content)}`;
    case 'agent.message':
      return `model: ${contentText(event.content)}`;
    case 'tool.result':
      return `tool: ${event.outcome}`;
    case 'turn.ended':
      return `ended: ${event.stopReason}`;
    case 'error':
      return `error: ${event.code}`;
    default:
      return event.type;
  }
}
