import type { AudioFormat } from '../audio-format.ts';

/** PCM with 16 bits and one channel. */
export interface PcmAudio {
  readonly pcm: Uint8Array;
  readonly format: AudioFormat;
}

/** A model that writes down what was said. */
export interface Transcriber {
  readonly name: string;
  /** Returns the text of an utterance; empty if nothing was said. It settles soon after `signal` aborts. */
  readonly transcribe: (audio: PcmAudio, signal: AbortSignal) => Promise<string>;
}

/** A model that speaks. */
export interface SpeechSynthesizer {
  readonly name: string;
  /** Yields the audio of a text, in as many pieces as it likes. It ends soon after `signal` aborts. */
  readonly speak: (text: string, signal: AbortSignal) => AsyncIterable<PcmAudio>;
}
