import { checkOptions, optionTable } from '../../../core/index.ts';
import type { OptionTable } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import { ModelError } from '../../../models/index.ts';
import type { SpeechSynthesizer, PcmAudio, Transcriber } from './speech-services.ts';
import { decodeWave, encodeWave } from './wave-file.ts';

/** A transcription model of the AI SDK, such as `openai.transcription('gpt-4o-transcribe')`. */
export interface AiSdkTranscriptionModel {
  readonly modelId: string;
  readonly doGenerate: (options: {
    readonly audio: Uint8Array | string;
    readonly mediaType: string;
    readonly abortSignal?: AbortSignal;
  }) => PromiseLike<{ readonly text: string }>;
}

/** A speech model of the AI SDK, such as `openai.speech('gpt-4o-mini-tts')`. */
export interface AiSdkSpeechModel {
  readonly modelId: string;
  readonly doGenerate: (options: {
    readonly text: string;
    readonly voice?: string;
    readonly outputFormat?: string;
    readonly instructions?: string;
    readonly language?: string;
    readonly abortSignal?: AbortSignal;
  }) => PromiseLike<{ readonly audio: string | Uint8Array }>;
}

/** How a speech model speaks. */
export interface AiSdkSpeechOptions {
  /** Default: the provider's. */
  readonly voice?: string;
  /** How it speaks: `Speak slowly.` Default: none. */
  readonly instructions?: string;
  /** A code such as `en`. Default: the provider's. */
  readonly language?: string;
}

/** The options of `aiSdkSynthesizer`. */
export const AI_SDK_SPEECH_OPTIONS: OptionTable = optionTable<AiSdkSpeechOptions>(
  'aiSdkSynthesizer',
  { voice: true, instructions: true, language: true },
);

/** A transcription model of the AI SDK as a `Transcriber`. It gets each utterance as a WAV file. */
export function aiSdkTranscriber(model: AiSdkTranscriptionModel): Transcriber {
  return {
    name: model.modelId,
    transcribe: async (audio, signal) => {
      const { text } = await model.doGenerate({
        audio: encodeWave(audio),
        mediaType: 'audio/wav',
        abortSignal: signal,
      });
      return text.trim();
    },
  };
}

/**
 * A speech model of the AI SDK as a `SpeechSynthesizer`. It is asked for WAV; raw PCM with 16 bits counts as 24 kHz.
 * @throws UnknownFieldError
 */
export function aiSdkSynthesizer(
  model: AiSdkSpeechModel,
  options: AiSdkSpeechOptions = {},
): SpeechSynthesizer {
  checkOptions(AI_SDK_SPEECH_OPTIONS, options);
  const { voice, instructions, language } = options;
  return {
    name: model.modelId,
    speak: async function* (text, signal) {
      const { audio } = await model.doGenerate({
        text,
        outputFormat: 'wav',
        abortSignal: signal,
        ...omitUndefined({ voice, instructions, language }),
      });
      const bytes = typeof audio === 'string' ? Buffer.from(audio, 'base64') : audio;
      yield toPcmAudio(bytes, model.modelId);
    },
  };
}

function toPcmAudio(bytes: Uint8Array, model: string): PcmAudio {
  const isWave = String.fromCharCode(...bytes.subarray(0, 4)) === 'RIFF';
  if (isWave) return decodeWave(bytes);
  if (bytes.byteLength % 2 === 0 && !isCompressed(bytes))
    return { pcm: bytes, format: { encoding: 'pcm16', sampleRate: 24_000 } };
  throw new ModelError({
    model,
    kind: 'protocol',
    message: 'the audio is neither WAV nor PCM with 16 bits.',
  });
}

/** MP3, Ogg, FLAC, or an MPEG-4 container. */
function isCompressed(bytes: Uint8Array): boolean {
  const start = String.fromCharCode(...bytes.subarray(0, 8));
  return /^(?:ID3|OggS|fLaC|.{4}ftyp|\u00ff[\u00e2-\u00ff])/s.test(start);
}
