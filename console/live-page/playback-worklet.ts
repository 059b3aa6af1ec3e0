import type { PlaybackChunk, PlaybackCommand, PlaybackReport } from './playback-messages.ts';

const REPORT_MS = 100;

/** Plays chunks in their order, and reports what was audible. It stops within one block of samples, about 5 ms. */
class Playback extends AudioWorkletProcessor {
  #queue: PlaybackChunk[] = [];
  /** Samples of the first chunk that were played. */
  #offset = 0;
  #isPaused = false;
  #position: { readonly reply: string; readonly playedMs: number } | undefined;
  #sinceReport = 0;
  #isReported = true;

  constructor() {
    super();
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- this also starts the port
    this.port.onmessage = ({ data }: MessageEvent<PlaybackCommand>) => {
      if (data.type === 'play') this.#queue.push(data.chunk);
      else if (data.type === 'flush') this.#flush();
      else this.#isPaused = data.type === 'pause';
    };
  }

  process(_inputs: Float32Array[][], outputs: Float32Array[][]): boolean {
    const [output = new Float32Array(0)] = outputs[0] ?? [];
    if (this.#isPaused) return true;
    let filled = 0;
    while (filled < output.length) {
      const [chunk] = this.#queue;
      if (chunk === undefined) break;
      const count = Math.min(output.length - filled, chunk.samples.length - this.#offset);
      output.set(chunk.samples.subarray(this.#offset, this.#offset + count), filled);
      filled += count;
      this.#offset += count;
      const playedMs = chunk.fromMs + (this.#offset * 1000) / sampleRate;
      // The end of a reply must be reported before the next one begins.
      if (this.#position !== undefined && this.#position.reply !== chunk.reply)
        this.#report('played');
      this.#position = { reply: chunk.reply, playedMs };
      this.#isReported = false;
      if (this.#offset < chunk.samples.length) continue;
      this.#queue.shift();
      this.#offset = 0;
    }
    this.#sinceReport += (output.length * 1000) / sampleRate;
    const isDue = this.#sinceReport >= REPORT_MS || this.#queue.length === 0;
    if (isDue && !this.#isReported) this.#report('played');
    return true;
  }

  #flush(): void {
    this.#report('flushed');
    this.#queue = [];
    this.#offset = 0;
    this.#isPaused = false;
  }

  #report(type: PlaybackReport['type']): void {
    if (this.#position === undefined) return;
    this.#sinceReport = 0;
    this.#isReported = true;
    this.port.postMessage({ type, ...this.#position } satisfies PlaybackReport);
  }
}

registerProcessor('playback', Playback);
