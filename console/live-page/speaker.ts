// oxlint-disable-next-line import/default -- vite makes it
import playbackUrl from './playback-worklet.ts?worker&url';
import type { PlaybackCommand, PlaybackReport } from './playback-messages.ts';

const SAMPLE_RATE = 24_000;

/** Plays replies. What arrives twice is played once. */
export class Speaker {
  readonly #context: AudioContext;
  readonly #node: AudioWorkletNode;
  /** The end of what is queued, by reply, in milliseconds. */
  readonly #queuedTo = new Map<string, number>();

  private constructor(
    context: AudioContext,
    node: AudioWorkletNode,
    onReport: (report: PlaybackReport) => void,
  ) {
    this.#context = context;
    this.#node = node;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- this also starts the port
    node.port.onmessage = ({ data }: MessageEvent<PlaybackReport>) => onReport(data);
  }

  static async open(onReport: (report: PlaybackReport) => void): Promise<Speaker> {
    const context = new AudioContext({ sampleRate: SAMPLE_RATE });
    await context.audioWorklet.addModule(playbackUrl);
    const node = new AudioWorkletNode(context, 'playback', { numberOfInputs: 0 });
    node.connect(context.destination);
    await context.resume();
    return new Speaker(context, node, onReport);
  }

  /** Queues PCM with 16 bits, at a position in its reply. */
  play(reply: string, position: number, pcm: Int16Array, rate: number): void {
    const fromMs = (position * 1000) / rate;
    const queuedMs = this.#queuedTo.get(reply) ?? 0;
    const skipped = Math.max(0, Math.round(((queuedMs - fromMs) * rate) / 1000));
    const rest = pcm.subarray(Math.min(skipped, pcm.length));
    if (rest.length === 0) return;
    const restMs = fromMs + (skipped * 1000) / rate;
    this.#queuedTo.set(reply, restMs + (rest.length * 1000) / rate);
    const samples = toRate(rest, rate);
    this.#send({ type: 'play', chunk: { reply, fromMs: restMs, samples } }, [samples.buffer]);
  }

  pause(): void {
    this.#send({ type: 'pause' });
  }

  resume(): void {
    this.#send({ type: 'resume' });
  }

  /** Drops what is queued. The report that it was flushed follows. */
  flush(): void {
    this.#send({ type: 'flush' });
  }

  async close(): Promise<void> {
    this.#node.disconnect();
    await this.#context.close();
  }

  #send(command: PlaybackCommand, transfer: Transferable[] = []): void {
    this.#node.port.postMessage(command, transfer);
  }
}

/** PCM in the rate of the context, by linear interpolation. */
function toRate(pcm: Int16Array, rate: number): Float32Array<ArrayBuffer> {
  const samples = new Float32Array(Math.round((pcm.length * SAMPLE_RATE) / rate));
  for (let at = 0; at < samples.length; at++) {
    const from = (at * rate) / SAMPLE_RATE;
    const low = pcm[Math.floor(from)] ?? 0;
    const high = pcm[Math.ceil(from)] ?? low;
    samples[at] = (low + (high - low) * (from % 1)) / 32_768;
  }
  return samples;
}
