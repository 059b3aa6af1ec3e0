import { audioDurationMs, type AudioFormat } from '../audio-format.ts';

/** A sample above this is speech; the range is 0 to 32,767. */
const LOUD = 500;

/** An edge of speech, with its position in the audio. */
export interface VoiceEdge {
  readonly edge: 'started' | 'stopped';
  readonly atMs: number;
}

/** Finds speech in PCM audio by its loudness. Time is that of the audio, so the result depends on nothing else. */
export class VoiceDetector {
  readonly #format: AudioFormat;
  readonly #silenceMs: number;
  #positionMs = 0;
  #quietMs = 0;
  #speaks = false;

  constructor(format: AudioFormat, silenceMs: number) {
    this.#format = format;
    this.#silenceMs = silenceMs;
  }

  /** Reads the next chunk. Returns the edge that it contains, if any. */
  read(pcm: Uint8Array): VoiceEdge | undefined {
    const startMs = this.#positionMs;
    const durationMs = audioDurationMs(this.#format, pcm.byteLength);
    this.#positionMs += durationMs;
    if (isLoud(pcm)) {
      this.#quietMs = 0;
      if (this.#speaks) return undefined;
      this.#speaks = true;
      return { edge: 'started', atMs: Math.round(startMs) };
    }
    this.#quietMs += durationMs;
    return this.#speaks && this.#quietMs >= this.#silenceMs ? this.stop() : undefined;
  }

  /** Ends an utterance whose audio ends without silence. */
  stop(): VoiceEdge | undefined {
    if (!this.#speaks) return undefined;
    this.#speaks = false;
    return { edge: 'stopped', atMs: Math.round(this.#positionMs) };
  }
}

function isLoud(pcm: Uint8Array): boolean {
  const view = new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  for (let at = 0; at + 1 < pcm.byteLength; at += 2) {
    if (Math.abs(view.getInt16(at, true)) > LOUD) return true;
  }
  return false;
}
