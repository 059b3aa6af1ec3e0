import { InvalidInputError, checkOptions, optionTable } from '../../core/index.ts';
import type { JsonObject, OptionNames, OptionTable } from '../../core/index.ts';
import type { GetSessionConfig } from '../sessions/session.ts';

/** `none`: whole events only. `sse`: pieces of answers as well, as they are made. */
export type StreamingMode = 'none' | 'sse' | 'bidi';

/** How one invocation is run. */
export interface RunConfig {
  /** `none` unless said. `bidi` is refused: it is for live sessions. */
  readonly streamingMode?: StreamingMode;
  /**
   * How many model calls one invocation may make. Agents side by side, called agents, workflow nodes and repeated
   * attempts count together. 0 and below: no limit. Default: 500.
   */
  readonly maxLlmCalls?: number;
  /** How much of what was said before this invocation its models are shown. */
  readonly getSessionConfig?: GetSessionConfig;
  /** Stands in every event of the invocation. */
  readonly customMetadata?: JsonObject;
  /** Deprecated: use SaveFilesAsArtifactsPlugin. */
  readonly saveInputBlobsAsArtifacts?: boolean;
  /** Deprecated: use saveLiveBlob. */
  readonly saveLiveAudio?: boolean;
  /** For live sessions only, refused by name in all others. */
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

/** What a run config may say. */
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

/** A run config with what it leaves out. */
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

/** @throws InvalidInputError naming the field */
export function checkRunConfig(
  config: RunConfig,
  warn: (message: string) => void,
): CheckedRunConfig {
  checkOptions(RUN_CONFIG_OPTIONS, config);
  const { streamingMode = 'none', maxLlmCalls = DEFAULT_MAX_LLM_CALLS } = config;
  if (streamingMode === 'bidi')
    throw new InvalidInputError(
      'runConfig.streamingMode',
      '"bidi" is for live sessions, which this version has not: use "sse" or "none".',
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
        'is for live sessions, which this version has not: leave it out.',
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
