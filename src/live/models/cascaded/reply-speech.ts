import type { AudioFormat } from '../audio-format.ts';
import { audioDurationMs } from '../audio-format.ts';
import type { LiveReporter } from '../live-reporter.ts';
import { Resampler } from '../resampler.ts';
import type { SpeechSynthesizer } from './speech-services.ts';
import { takePieces } from './text-pieces.ts';

export interface ReplySpeechOptions {
  readonly reporter: LiveReporter;
  /** Undefined: the reply is text only. */
  readonly synthesizer: SpeechSynthesizer | undefined;
  readonly outputAudio: AudioFormat;
  /** Whether the text of audio is reported, too. */
  readonly hasTranscript: boolean;
  readonly signal: AbortSignal;
}

/** A reply that is spoken while it is written: piece by piece, in order. */
export class ReplySpeech {
  readonly #options: ReplySpeechOptions;
  readonly #pieces: { readonly text: string; readonly fromMs: number; toMs: number }[] = [];
  #rest = '';
  #audioMs = 0;
  #speaking: Promise<void> = Promise.resolve();

  constructor(options: ReplySpeechOptions) {
    this.#options = options;
  }

  /** Adds text in progress. */
  add(text: string): void {
    this.#take(this.#rest + text, false);
  }

  /** Speaks the rest. Resolves when all is spoken. @throws the first error of the speech model */
  async finish(): Promise<void> {
    this.#take(this.#rest, true);
    await this.#speaking;
  }

  /** The text that was spoken until a position, by its share of the audio. Default: all that was begun. */
  textUntil(ms: number = Infinity): string {
    return this.#pieces
      .map(({ text, fromMs, toMs }) => {
        if (ms >= toMs) return text;
        const words = text.match(/\s*\S+\s*/g) ?? [];
        const share = Math.max(0, (ms - fromMs) / Math.max(1, toMs - fromMs));
        return words.slice(0, Math.floor(share * words.length)).join('');
      })
      .join('');
  }

  #take(text: string, isComplete: boolean): void {
    const { pieces, rest } = takePieces(text, isComplete);
    this.#rest = rest;
    for (const piece of pieces) {
      this.#speaking = this.#speaking.then(async () => this.#speak(piece));
      // The one who awaits `finish` gets the error.
      this.#speaking.catch(() => {});
    }
  }

  async #speak(text: string): Promise<void> {
    const { reporter, synthesizer, outputAudio, hasTranscript, signal } = this.#options;
    if (signal.aborted) return;
    const piece = { text, fromMs: this.#audioMs, toMs: this.#audioMs };
    if (synthesizer === undefined) {
      this.#pieces.push(piece);
      reporter.text('text', text);
      return;
    }
    // There is nothing to speak, and a provider may refuse it.
    if (text.trim() === '') {
      this.#pieces.push(piece);
      if (hasTranscript) reporter.text('audio', text);
      return;
    }
    let resampler: Resampler | undefined;
    let rate = 0;
    for await (const { pcm, format } of synthesizer.speak(text, signal)) {
      if (isAborted(signal)) return;
      if (format.sampleRate !== rate) {
        rate = format.sampleRate;
        resampler =
          rate === outputAudio.sampleRate ? undefined : new Resampler(rate, outputAudio.sampleRate);
      }
      const audio = resampler?.convert(pcm) ?? pcm;
      reporter.audio(audio);
      if (piece.toMs === piece.fromMs) {
        this.#pieces.push(piece);
        if (hasTranscript) reporter.text('audio', text);
      }
      this.#audioMs += audioDurationMs(outputAudio, audio.byteLength);
      piece.toMs = this.#audioMs;
    }
  }
}

function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
