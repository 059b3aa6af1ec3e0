import { optionTable, type OptionTable } from '../../core/index.ts';

/**
 * Options of a live conversation, by ADK's names. A model whose protocol does not have an option
 * rejects it with `UnsupportedFeatureError`, unless `onUnsupported` is `warn`.
 */
export type LiveConfig = {
  /** What the model answers with. Default: `['AUDIO']`. */
  readonly responseModalities?: readonly ('AUDIO' | 'TEXT')[];
  readonly speechConfig?: LiveSpeechConfig;
  /** Transcripts of the user's speech: `heard`. `null` turns them off. Default: on. */
  readonly inputAudioTranscription?: LiveTranscriptionConfig | null;
  /** Transcripts of the model's speech: `said`. `null` turns them off. Default: on. */
  readonly outputAudioTranscription?: LiveTranscriptionConfig | null;
  readonly realtimeInputConfig?: LiveInputConfig;
  /** The server reports where speech starts and ends: `voice`. The Gemini API does not have it. Default: the model's. */
  readonly explicitVadSignal?: boolean;
  /** The model adapts its tone to the user's. Default: false. */
  readonly enableAffectiveDialog?: boolean;
  /** `proactiveAudio`: the model may stay silent when it is not addressed. Default: false. */
  readonly proactivity?: { readonly proactiveAudio?: boolean };
  /**
   * The server sends resumption handles. `transparent` requests message indexes too. Default: on,
   * where the protocol has it; `null` turns it off.
   */
  readonly sessionResumption?: { readonly transparent?: boolean } | null;
  /** Old parts of the context are dropped above `triggerTokens`, down to `targetTokens`. */
  readonly contextWindowCompression?: LiveCompressionConfig;
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  /**
   * What to do with an unsupported option: reject it, or leave it out with a diagnostic. Default:
   * `refuse`.
   */
  readonly onUnsupported?: 'refuse' | 'warn';
};

/** The voice of the model. */
export type LiveSpeechConfig = {
  readonly voiceConfig?: { readonly prebuiltVoiceConfig?: { readonly voiceName?: string } };
  /** BCP 47, for example `de-DE`. */
  readonly languageCode?: string;
};

/** Options of transcripts. */
export type LiveTranscriptionConfig = {
  /** Languages to expect, in BCP 47. Default: any. */
  readonly languageCodes?: readonly string[];
};

/** How audio and text input become turns of the user. */
export type LiveInputConfig = {
  readonly automaticActivityDetection?: LiveActivityDetection;
  /** Whether speech of the user interrupts a reply. Default: it does. */
  readonly activityHandling?: 'START_OF_ACTIVITY_INTERRUPTS' | 'NO_INTERRUPTION';
  /** Whether silence and video between utterances are part of a turn. Default: the model's. */
  readonly turnCoverage?: 'TURN_INCLUDES_ONLY_ACTIVITY' | 'TURN_INCLUDES_ALL_INPUT';
};

/** The model's voice detection. */
export type LiveActivityDetection = {
  /** True if `activity` commands replace the model's voice detection. Default: false. */
  readonly disabled?: boolean;
  readonly startOfSpeechSensitivity?: 'START_SENSITIVITY_HIGH' | 'START_SENSITIVITY_LOW';
  readonly endOfSpeechSensitivity?: 'END_SENSITIVITY_HIGH' | 'END_SENSITIVITY_LOW';
  /** Gemini: speech that counts as a start. OpenAI: audio before the start that is included. In milliseconds. */
  readonly prefixPaddingMs?: number;
  /** Silence that ends an utterance, in milliseconds. */
  readonly silenceDurationMs?: number;
};

/** When the context is shortened, and to how many tokens. */
export type LiveCompressionConfig = {
  readonly triggerTokens?: number;
  readonly slidingWindow?: { readonly targetTokens?: number };
};

/** The options of a live conversation. */
export const LIVE_CONFIG: OptionTable = optionTable<LiveConfig>('live config', {
  responseModalities: true,
  speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: true } }, languageCode: true },
  inputAudioTranscription: { languageCodes: true },
  outputAudioTranscription: { languageCodes: true },
  realtimeInputConfig: {
    automaticActivityDetection: {
      disabled: true,
      startOfSpeechSensitivity: true,
      endOfSpeechSensitivity: true,
      prefixPaddingMs: true,
      silenceDurationMs: true,
    },
    activityHandling: true,
    turnCoverage: true,
  },
  explicitVadSignal: true,
  enableAffectiveDialog: true,
  proactivity: { proactiveAudio: true },
  sessionResumption: { transparent: true },
  contextWindowCompression: { triggerTokens: true, slidingWindow: { targetTokens: true } },
  temperature: true,
  maxOutputTokens: true,
  onUnsupported: true,
});
