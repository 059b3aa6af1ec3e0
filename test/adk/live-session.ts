import { setImmediate as nextTick } from 'node:timers/promises';
import { App, InMemoryRunner, LiveRequestQueue } from '../../src/adk/index.ts';
import type { BaseAgent, Runner, RunLiveParams } from '../../src/adk/index.ts';
import type { AppConfig } from '../../src/adk/index.ts';
import { contentText } from '../../src/core/index.ts';
import type { Event } from '../../src/core/index.ts';
import type { SimulatedClock } from '../../src/net/index.ts';

const FRAME_MS = 20;
const LOUD = 4_000;

/** A live session of a runner on a simulated clock, whose events are collected. */
export class LiveSession<R extends Runner = InMemoryRunner> implements AsyncDisposable {
  readonly queue: LiveRequestQueue = new LiveRequestQueue();
  readonly events: Event[] = [];
  readonly runner: R;
  readonly clock: SimulatedClock;
  /** Rejects with the error of the live session. */
  readonly ended: Promise<void>;
  isOver = false;

  constructor(runner: R, clock: SimulatedClock, params: Partial<RunLiveParams> = {}) {
    this.runner = runner;
    this.clock = clock;
    this.ended = this.#collect(params);
    this.ended.catch(() => {});
  }

  /** Speaks, and is silent long enough to be understood. */
  async say(ms = 300): Promise<void> {
    await this.#send(ms, LOUD);
    await this.#send(200, 0);
  }

  async speak(ms: number): Promise<void> {
    await this.#send(ms, LOUD);
  }

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    await passTime(this.clock, ms);
  }

  /** Lets time pass until something is true, at most a minute. */
  async until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
    for (let ms = 0; ms <= 60_000; ms += FRAME_MS) {
      if (await isTrue()) return;
      await this.pass(FRAME_MS);
    }
    throw new Error(`It did not happen within a minute:\n${this.lines().join('\n')}`);
  }

  /** Waits for the end of the nth turn. */
  async turns(count: number): Promise<void> {
    await this.until(() => this.events.filter((event) => event.turnComplete).length >= count);
  }

  /** Closes the queue, and waits for the end. */
  async close(): Promise<void> {
    this.queue.close();
    await this.until(() => this.isOver);
    await this.ended;
  }

  /** The events in short. Audio is left out. */
  lines(): readonly string[] {
    return this.events.flatMap((event) => describeEvent(event) ?? []);
  }

  /** The events that are not partial, in short. */
  stored(): readonly string[] {
    return this.events
      .filter(({ partial }) => partial !== true)
      .flatMap((event) => describeEvent(event) ?? []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.runner.close();
  }

  async #collect(params: Partial<RunLiveParams>): Promise<void> {
    const address = { userId: 'u', sessionId: 's' };
    try {
      const events = this.runner.runLive({ ...address, liveRequestQueue: this.queue, ...params });
      for await (const event of events) this.events.push(event);
    } finally {
      this.isOver = true;
    }
  }

  async #send(ms: number, loudness: number): Promise<void> {
    for (let at = 0; at < ms; at += FRAME_MS) {
      const frame = Buffer.from(new Int16Array(16 * FRAME_MS).fill(loudness).buffer);
      const data = frame.toString('base64url');
      this.queue.sendRealtime({ mimeType: 'audio/pcm;rate=16000', data });
      await this.pass(FRAME_MS);
    }
  }
}

/** Begins a live session with an agent. */
export async function runLive(
  rootAgent: BaseAgent,
  clock: SimulatedClock,
  { app = {}, ...params }: Partial<RunLiveParams> & { readonly app?: Partial<AppConfig> } = {},
): Promise<LiveSession> {
  const runner = new InMemoryRunner({
    app: new App({ name: 'demo', rootAgent, ...app }),
    clock,
    autoCreateSession: true,
  });
  return new LiveSession(runner, clock, params);
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

/** An event in short; undefined for audio. */
export function describeEvent(event: Event): string | undefined {
  const { author, content, inputTranscription: input, outputTranscription: output } = event;
  const rest = event.partial === true ? '…' : '';
  const cut = event.interrupted === true ? ' (interrupted)' : '';
  if (event.turnComplete === true) return `turn complete${cut}`;
  if (event.liveSessionResumptionUpdate !== undefined)
    return `handle ${event.liveSessionResumptionUpdate.newHandle}`;
  if (event.goAway !== undefined) return 'go away';
  if (event.errorCode !== undefined) return `error ${event.errorCode}`;
  const said = input ?? output;
  const parts = (content?.parts ?? []).flatMap((part) => {
    if ('functionCall' in part) return `${part.functionCall.name}?`;
    if ('functionResponse' in part)
      return `${part.functionResponse.name}: ${JSON.stringify(part.functionResponse.response)}`;
    if ('fileData' in part) return `file ${part.fileData.mimeType}`;
    return [];
  });
  const text = [
    said === undefined ? '' : `"${said.text}"`,
    content === undefined ? '' : contentText(content),
    ...parts,
  ].filter((one) => one !== '');
  return text.length === 0 ? undefined : `${author}: ${text.join(' ')}${rest}${cut}`;
}
