import { setTimeout as sleep } from 'node:timers/promises';
import { audioByteLength } from '../../../src/live/models/audio-format.ts';
import type { AudioFormat } from '../../../src/live/models/audio-format.ts';
import { cascadedLive } from '../../../src/live/models/cascaded/cascaded-live.ts';
import type {
  SpeechSynthesizer,
  Transcriber,
} from '../../../src/live/models/cascaded/speech-services.ts';
import type { LiveModel } from '../../../src/live/models/live-model.ts';
import type { LiveScript } from '../../../src/live/models/scripted/scripted-live-turn.ts';
import { omitUndefined } from '../../../src/core/internal.ts';
import { ScriptedModel } from '../../../src/models/index.ts';
import type { ScriptedTurn } from '../../../src/models/index.ts';

const FORMAT: AudioFormat = { encoding: 'pcm16', sampleRate: 24_000 };
const WORD_MS = 200;

/** A speech model that says one tone for each word. */
export function scriptedSynthesizer(wordDelayMs: number = 0): SpeechSynthesizer {
  return {
    name: 'scripted-speech',
    speak: async function* (text, signal) {
      for (const _ of text.match(/\S+/g) ?? []) {
        if (wordDelayMs > 0) await sleep(wordDelayMs);
        if (signal.aborted) return;
        const tone = new Int16Array(audioByteLength(FORMAT, WORD_MS) / 2).fill(3_000);
        yield { pcm: new Uint8Array(tone.buffer), format: FORMAT };
      }
    },
  };
}

/** A transcription model that understands these texts, in their order. */
export function scriptedTranscriber(texts: readonly string[]): Transcriber & {
  readonly heardMs: number[];
} {
  const heardMs: number[] = [];
  return {
    name: 'scripted-transcription',
    heardMs,
    transcribe: async ({ pcm, format }) => {
      heardMs.push((pcm.byteLength * 1000) / (2 * format.sampleRate));
      return texts[heardMs.length - 1] ?? '';
    },
  };
}

/** The script of a live model, played by three models. */
export function cascadedScript({ turns }: LiveScript): LiveModel {
  return cascadedLive({
    model: new ScriptedModel(
      turns.map(({ text, thinking, toolCalls, usage, finishReason }): ScriptedTurn =>
        omitUndefined({ text, thinking, toolCalls, usage, finishReason }),
      ),
    ),
    transcriber: scriptedTranscriber(turns.flatMap(({ heard }) => heard ?? [])),
    synthesizer: scriptedSynthesizer(
      turns.find(({ wordDelayMs = 0 }) => wordDelayMs > 0)?.wordDelayMs,
    ),
  });
}
