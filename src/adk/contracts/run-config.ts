import { InvalidInputError, checkOptions, optionTable } from '../../core/index.ts';
import type { JsonObject, OptionNames, OptionTable } from '../../core/index.ts';
import type { GetSessionConfig } from '../sessions/session.ts';

/** `none`: complete events only. `sse`: also partial events while an answer is generated. */
export type StreamingMode = 'none' | 'sse' | 'bidi';

/** How one invocation runs. */
export interface RunConfig {
  /** `bidi` is rejected: it is for live sessions. Default: `none`. */
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
  /** Deprecated and without effect: use saveLiveBlob. */
  readonly saveLiveAudio?: boolean;
  /** For live sessions only; rejected otherwise. The same holds for all fields below. */
  readonly responseModalities?: readonly string[];
  readonly speechConfig?: JsonObject;
  readonly avatarConfig?: JsonObject;
  readonly outputAudioTranscription?: JsonObject;
  readonly inputAudioTranscription?: JsonObject;
  readonly contextWindowCompression?: JsonObject;
  readonly supportCfc?: boolean;
  readonly toolThreadPoolConfig?: JsonObject;
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
    contextWindowCompression: true,
    supportCfc: true,
    toolThreadPoolConfig: true,
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
  'contextWindowCompression',
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
  const { streamingMode = 'none', maxLlmCalls = DEFAULT_MAX_LLM_CALLS } = config;
  if (streamingMode === 'bidi')
    throw new InvalidInputError(
      'runConfig.streamingMode',
      '"bidi" requires live sessions, which are not supported: use "sse" or "none".',
    );
  if (streamingMode !== 'none' && streamingMode !== 'sse')
    throw new InvalidInputError('runConfig.streamingMode', 'must be "none" or "sse".');
  if (!Number.isInteger(maxLlmCalls))
    throw new InvalidInputError(
      'runConfig.maxLlmCalls',
      `must be a whole number; it is ${maxLlmCalls}.`,
    );
  for (const field of LIVE_ONLY) {
    const value = config[field];
    if (value !== undefined && value !== false)
      throw new InvalidInputError(
        `runConfig.${field}`,
        'requires live sessions, which are not supported: omit it.',
      );
  }
  for (const [field, replacement] of Object.entries(REPLACED)) {
    if (Reflect.get(config, field) === true)
      warn(`runConfig.${field} is deprecated and does nothing: use ${replacement}.`);
  }
  return {
    streamingMode,
    maxLlmCalls,
    getSessionConfig: config.getSessionConfig ?? {},
    customMetadata: config.customMetadata ?? {},
  };
}
