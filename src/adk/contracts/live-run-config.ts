import { omitUndefined } from '../../core/internal.ts';
import { checkOptions, InvalidInputError } from '../../core/index.ts';
import type { JsonObject } from '../../core/index.ts';
import type { LiveConfig } from '../../live/index.ts';
import { LIVE_CONFIG } from '../../live/internal.ts';
import { checkMaxLlmCalls, RUN_CONFIG_OPTIONS, warnDeprecated } from './run-config.ts';
import type { RunConfig } from './run-config.ts';

/** A validated run config of a live session. */
export interface LiveRunConfig {
  /** The options of its connections. */
  readonly config: LiveConfig;
  /** The resumption handle that the caller has. */
  readonly handle: string | undefined;
  readonly saveLiveBlob: boolean;
  /** How many function tools run at once. Undefined: no limit. */
  readonly maxWorkers: number | undefined;
  readonly maxLlmCalls: number;
  readonly customMetadata: JsonObject;
}

const DEFAULT_WORKERS = 4;

/** Fields that no live model here has, and why. */
const UNSUPPORTED = {
  avatarConfig: 'no model here makes video',
  translationConfig: 'translation models are not supported',
  supportCfc: 'it needs a code executor of the provider',
  getSessionConfig: 'a live model gets the whole conversation',
} as const satisfies Partial<Record<keyof RunConfig, string>>;

/**
 * Checks the run config of a live session.
 * @throws InvalidInputError, UnknownFieldError naming the field
 */
export function checkLiveRunConfig(
  runConfig: RunConfig,
  warn: (message: string) => void,
): LiveRunConfig {
  checkOptions(RUN_CONFIG_OPTIONS, runConfig);
  for (const [field, reason] of Object.entries(UNSUPPORTED)) {
    const value: unknown = Reflect.get(runConfig, field);
    if (value !== undefined && value !== false)
      throw new InvalidInputError(`runConfig.${field}`, `is not supported: ${reason}. Omit it.`);
  }
  if (runConfig.historyConfig?.initialHistoryInClientContent === false)
    throw new InvalidInputError(
      'runConfig.historyConfig.initialHistoryInClientContent',
      'must be true: a connection without a handle gets the conversation so far.',
    );
  warnDeprecated(runConfig, warn);
  const { sessionResumption, toolThreadPoolConfig: pool } = runConfig;
  const config = omitUndefined({
    responseModalities: runConfig.responseModalities,
    speechConfig: runConfig.speechConfig,
    inputAudioTranscription: runConfig.inputAudioTranscription,
    outputAudioTranscription: runConfig.outputAudioTranscription,
    realtimeInputConfig: runConfig.realtimeInputConfig,
    explicitVadSignal: runConfig.explicitVadSignal,
    enableAffectiveDialog: runConfig.enableAffectiveDialog,
    proactivity: runConfig.proactivity,
    contextWindowCompression: runConfig.contextWindowCompression,
    sessionResumption:
      sessionResumption?.transparent === undefined
        ? undefined
        : { transparent: sessionResumption.transparent },
  });
  checkOptions({ ...LIVE_CONFIG, typeName: 'runConfig' }, config);
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ADK types these fields as JSON; the model checks their values
    config: config as LiveConfig,
    handle: sessionResumption?.handle,
    saveLiveBlob: runConfig.saveLiveBlob === true || runConfig.saveLiveAudio === true,
    maxWorkers: pool === undefined ? undefined : checkWorkers(pool.maxWorkers ?? DEFAULT_WORKERS),
    maxLlmCalls: checkMaxLlmCalls(runConfig),
    customMetadata: runConfig.customMetadata ?? {},
  };
}

function checkWorkers(maxWorkers: number): number {
  if (Number.isInteger(maxWorkers) && maxWorkers > 0) return maxWorkers;
  throw new InvalidInputError(
    'runConfig.toolThreadPoolConfig.maxWorkers',
    `must be a whole number above 0; it is ${maxWorkers}.`,
  );
}
