import { checkOptions, optionTable } from '../../../core/index.ts';
import type { OptionTable } from '../../../core/index.ts';
import { ModelError } from '../../../models/index.ts';
import type { Model } from '../../../models/index.ts';
import type { AudioFormat } from '../audio-format.ts';
import { LIVE_CONFIG } from '../live-config.ts';
import { LiveConnectionClosedError, LiveHandleExpiredError } from '../live-errors.ts';
import type { LiveConnection, LiveModel, LiveOpenContext, LiveOpenRequest } from '../live-model.ts';
import { LiveReporter } from '../live-reporter.ts';
import { CascadedConversation } from './cascaded-conversation.ts';
import type { SpeechSynthesizer, Transcriber } from './speech-services.ts';

/** The three models of `cascadedLive`. */
export interface CascadedLiveOptions {
  /** The model that answers. */
  readonly model: Model;
  /** The model that writes down what the user said: `aiSdkTranscriber(openai.transcription('gpt-4o-transcribe'))`. */
  readonly transcriber: Transcriber;
  /** The model that speaks: `aiSdkSynthesizer(openai.speech('gpt-4o-mini-tts'), { voice: 'alloy' })`. */
  readonly synthesizer: SpeechSynthesizer;
  /** Default: the names of the three models. */
  readonly name?: string;
}

/** The options of `cascadedLive`. */
export const CASCADED_LIVE_OPTIONS: OptionTable = optionTable<CascadedLiveOptions>('cascadedLive', {
  model: true,
  transcriber: true,
  synthesizer: true,
  name: true,
});

const INPUT_AUDIO: AudioFormat = { encoding: 'pcm16', sampleRate: 16_000 };
const OUTPUT_AUDIO: AudioFormat = { encoding: 'pcm16', sampleRate: 24_000 };

/**
 * Makes a live model of a model without a live interface: a transcription model hears, the model answers, and a speech
 * model speaks. Speech is found by its energy, and sentences are spoken while the answer goes on. It has no resumption:
 * a connection that is opened again gets the conversation as its history.
 * @throws InvalidInputError, UnknownFieldError
 * @example
 * const live = cascadedLive({
 *   model: await resolveModel('claude-sonnet-5'),
 *   transcriber: aiSdkTranscriber(openai.transcription('gpt-4o-transcribe')),
 *   synthesizer: aiSdkSynthesizer(openai.speech('gpt-4o-mini-tts')),
 * });
 */
export function cascadedLive(options: CascadedLiveOptions): LiveModel {
  checkOptions(CASCADED_LIVE_OPTIONS, options);
  const { model, transcriber, synthesizer } = options;
  const name = options.name ?? `${transcriber.name} + ${model.name} + ${synthesizer.name}`;
  return { name, open: async (request, context) => open(name, options, request, context) };
}

async function open(
  name: string,
  { model, transcriber, synthesizer }: CascadedLiveOptions,
  request: LiveOpenRequest,
  { signal, listener }: LiveOpenContext,
): Promise<LiveConnection> {
  checkOptions(LIVE_CONFIG, request.config ?? {});
  if (signal.aborted)
    throw new ModelError({ model: name, kind: 'aborted', message: 'the call was aborted.' });
  if (request.handle !== undefined) throw new LiveHandleExpiredError(name);
  const reporter = new LiveReporter(listener, OUTPUT_AUDIO);
  const conversation = new CascadedConversation({
    model,
    transcriber,
    synthesizer,
    request,
    reporter,
    inputAudio: INPUT_AUDIO,
    outputAudio: OUTPUT_AUDIO,
  });
  const close = (): void => {
    conversation.close();
    reporter.close({ reason: 'client', retryable: false });
  };
  signal.addEventListener('abort', close, { once: true });
  return {
    inputAudio: INPUT_AUDIO,
    outputAudio: OUTPUT_AUDIO,
    send: async (command) => {
      if (reporter.isClosed) throw new LiveConnectionClosedError(name, command.kind);
      conversation.run(command);
    },
    sendAudio: (pcm) => {
      if (reporter.isClosed) return false;
      conversation.audio(pcm);
      return true;
    },
    sendImage: () => false,
    bufferedBytes: () => 0,
    pause: () => undefined,
    resume: () => undefined,
    close: async () => {
      signal.removeEventListener('abort', close);
      close();
    },
  };
}
