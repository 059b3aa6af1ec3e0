import { InvalidInputError, checkOptions, optionTable } from '../../core/index.ts';
import type { JsonObject, OptionNames, OptionTable } from '../../core/index.ts';
import type { LiveInputConfig } from '../../live/index.ts';
import type { GetSessionConfig } from '../sessions/session.ts';

/** `none`: complete events only. `sse`: also partial events while an answer is generated. */
export type StreamingMode = 'none' | 'sse' | 'bidi';

/** ADK's names of the streaming modes. */
export const StreamingMode: {
  readonly NONE: 'none';
  readonly SSE: 'sse';
  readonly BIDI: 'bidi';
} = { NONE: 'none', SSE: 'sse', BIDI: 'bidi' };

/** How one invocation runs. */
export interface RunConfig {
  /** `bidi` is rejected by `runAsync`. `runLive` ignores this field. Default: `none`. */
  readonly streamingMode?: StreamingMode;
  /**
   * Maximum number of model calls of one invocation. Parallel agents, called agents, workflow nodes and repeated
   * attempts count together. 0 or less: no limit. Default: 500.
   */
  readonly maxLlmCalls?: number;
  /** Selects how much of the earlier conversation the models see. Default: all of it. */
  readonly getSessionConfig?: GetSessionConfig;
  /** Added to every event of the invocation. */
  readonly customMetadata?: JsonObject;
  /** Deprecated and without effect: use SaveFilesAsArtifactsPlugin. */
  readonly saveInputBlobsAsArtifacts?: boolean;
  /** Deprecated: use saveLiveBlob. */
  readonly saveLiveAudio?: boolean;
  /** What the model answers with. For `runLive` only, as are all fields below. Default: `['AUDIO']`. */
  readonly responseModalities?: readonly string[];
  /** The voice and the language of the model. Default: the model's. */
  readonly speechConfig?: JsonObject;
  /** Rejected: no model here makes video. */
  readonly avatarConfig?: JsonObject;
  /** Transcripts of the model's speech. `null` turns them off. Default: on. */
  readonly outputAudioTranscription?: JsonObject | null;
  /** Transcripts of the user's speech. `null` turns them off. Default: on. */
  readonly inputAudioTranscription?: JsonObject | null;
  /** How input becomes turns: voice detection, and whether speech interrupts. Default: the model's. */
  readonly realtimeInputConfig?: LiveInputConfig;
  /** The server reports where speech starts and ends. Default: false. */
  readonly explicitVadSignal?: boolean;
  /** The model adapts its tone to the user's. Default: false. */
  readonly enableAffectiveDialog?: boolean;
  /** `proactiveAudio`: the model may stay silent when it is not addressed. Default: false. */
  readonly proactivity?: JsonObject;
  /** `handle`: the conversation to resume. Default: the newest handle of the session. */
  readonly sessionResumption?: { readonly handle?: string; readonly transparent?: boolean };
  /** When old parts of the context are dropped. Default: the model's. */
  readonly contextWindowCompression?: JsonObject;
  /** The history is always sent with the first connection: `initialHistoryInClientContent` may only be true. */
  readonly historyConfig?: { readonly initialHistoryInClientContent?: boolean };
  /** Rejected: translation models are not supported. */
  readonly translationConfig?: JsonObject;
  /** Rejected: compositional function calling needs a code executor of the provider. */
  readonly supportCfc?: boolean;
  /** `maxWorkers`: how many function tools run at once. They never block the connection. Default: no limit; 4 with `{}`. */
  readonly toolThreadPoolConfig?: { readonly maxWorkers?: number };
  /** Saves audio and images of both sides as artifacts. Requires the consent of the speakers. Default: false. */
  readonly saveLiveBlob?: boolean;
}

/** The option names of `RunConfig`. */
export const RUN_CONFIG_OPTIONS: OptionTable = optionTable<RunConfig>(
  'runConfig',
  {
    streamingMode: true,
    maxLlmCalls: true,
    getSessionConfig: {
      numRecentEvents: true,
      afterTimestamp: true,
    } satisfies OptionNames<GetSessionConfig>,
    customMetadata: true,
    saveInputBlobsAsArtifacts: true,
    saveLiveAudio: true,
    responseModalities: true,
    speechConfig: true,
    avatarConfig: true,
    outputAudioTranscription: true,
    inputAudioTranscription: true,
    realtimeInputConfig: true,
    explicitVadSignal: true,
    enableAffectiveDialog: true,
    proactivity: true,
    sessionResumption: { handle: true, transparent: true },
    contextWindowCompression: true,
    historyConfig: { initialHistoryInClientContent: true },
    translationConfig: true,
    supportCfc: true,
    toolThreadPoolConfig: { maxWorkers: true },
    saveLiveBlob: true,
  },
  { maxModelCalls: 'maxLlmCalls', streaming: 'streamingMode', metadata: 'customMetadata' },
);

/** A validated run config with its defaults filled in. */
export interface CheckedRunConfig {
  readonly streamingMode: 'none' | 'sse';
  readonly maxLlmCalls: number;
  readonly getSessionConfig: GetSessionConfig;
  readonly customMetadata: JsonObject;
}

const DEFAULT_MAX_LLM_CALLS = 500;

const LIVE_ONLY = [
  'responseModalities',
  'speechConfig',
  'avatarConfig',
  'outputAudioTranscription',
  'inputAudioTranscription',
  'realtimeInputConfig',
  'explicitVadSignal',
  'enableAffectiveDialog',
  'proactivity',
  'sessionResumption',
  'contextWindowCompression',
  'historyConfig',
  'translationConfig',
  'supportCfc',
  'toolThreadPoolConfig',
  'saveLiveBlob',
] as const satisfies readonly (keyof RunConfig)[];

const REPLACED = {
  saveInputBlobsAsArtifacts: 'SaveFilesAsArtifactsPlugin',
  saveLiveAudio: 'saveLiveBlob',
} as const;

/** @throws InvalidInputError naming the invalid field */
export function checkRunConfig(
  config: RunConfig,
  warn: (message: string) => void,
): CheckedRunConfig {
  checkOptions(RUN_CONFIG_OPTIONS, config);
  const { streamingMode = 'none' } = config;
  const maxLlmCalls = checkMaxLlmCalls(config);
  if (streamingMode === 'bidi')
    throw new InvalidInputError(
      'runConfig.streamingMode',
      '"bidi" is for live sessions: use runLive, or "sse" or "none".',
    );
  if (streamingMode !== 'none' && streamingMode !== 'sse')
    throw new InvalidInputError('runConfig.streamingMode', 'must be "none" or "sse".');
  for (const field of LIVE_ONLY) {
    const value = config[field];
    if (value !== undefined && value !== false)
      throw new InvalidInputError(
        `runConfig.${field}`,
        'is for live sessions: use runLive, or omit it.',
      );
  }
  warnDeprecated(config, warn);
  return {
    streamingMode,
    maxLlmCalls,
    getSessionConfig: config.getSessionConfig ?? {},
    customMetadata: config.customMetadata ?? {},
  };
}

/** @throws InvalidInputError */
export function checkMaxLlmCalls({ maxLlmCalls = DEFAULT_MAX_LLM_CALLS }: RunConfig): number {
  if (Number.isInteger(maxLlmCalls)) return maxLlmCalls;
  throw new InvalidInputError(
    'runConfig.maxLlmCalls',
    `must be a whole number; it is ${maxLlmCalls}.`,
  );
}

/** Reports deprecated fields that are set. */
export function warnDeprecated(config: RunConfig, warn: (message: string) => void): void {
  for (const [field, replacement] of Object.entries(REPLACED)) {
    if (Reflect.get(config, field) === true)
      warn(`runConfig.${field} is deprecated: use ${replacement}.`);
  }
}
