import { omitUndefined } from '../../core/internal.ts';
import type { JsonObject } from '../../core/index.ts';
import type { Feature } from './feature.ts';
import type { LanguageModel } from './language-model.ts';
import type { CacheConfig, GenerationConfig } from '../model/model.ts';
import type { SchemaDialect } from '../schema/normalize-schema.ts';

/** The properties of one provider API that its AI SDK package does not unify. */
export interface ProviderProfile {
  readonly dialect: SchemaDialect;
  /** Features that this API cannot express. */
  readonly unsupported: ReadonlySet<Feature>;
  /** Options that only this provider's own options can express. */
  readonly options: (config: GenerationConfig, call: ProfiledCall) => JsonObject;
  /** The names under which its package reads these options, for a provider of this family. */
  readonly optionNames: (family: string) => readonly string[];
  /** Options that a third-party package reads under its own name for the same API. */
  readonly familyOptions?: JsonObject;
  /** Further names that its package reads. Undefined for an unknown package. */
  readonly aliases?: (family: string) => readonly string[];
  /** Whether the model certainly does not think, whatever the effort. */
  readonly cannotThink?: (modelId: string) => boolean;
  /** The option for effort, where the specification has none: in version 3. */
  readonly effortOption?: (effort: string) => JsonObject;
  /** The mark for the end of the cacheable prefix in the prompt, if the API has one. */
  readonly cacheMark?: (cache: CacheConfig) => JsonObject;
  /** Whether the package declares the URLs that the provider fetches. */
  readonly declaresSupportedUrls: boolean;
  /** Whether an image can be sent inside the result of a tool. */
  readonly supportsResultImages: boolean;
  /** Whether thinking without a signature is sent back. */
  readonly acceptsUnsignedThinking: boolean;
  /**
   * The providers whose tools this API runs, as in the ids of tools, for a provider of this family. Undefined: its package
   * reports the tools that it does not know.
   */
  readonly toolProviders?: (family: string) => readonly string[];
  /** Whether an ordinary end has no finish reason in this API. */
  readonly omitsFinishReason: boolean;
}

/** What options depend on beside the configuration. */
export interface ProfiledCall {
  readonly modelId: string;
  /** Whether to request encrypted thinking, so that it can be sent back. */
  readonly encryptsThinking: boolean;
}

/**
 * Names of provider options that some package reads. They are not misspelled, even for a model of
 * another provider.
 */
export const OPTION_NAMES: ReadonlySet<string> = new Set([
  'openai',
  'azure',
  'anthropic',
  'google',
  'googleVertex',
  'vertex',
  'bedrock',
  'amazonBedrock',
  'openaiCompatible',
  'openai-compatible',
  'ollama',
  'gateway',
]);

/**
 * The profile of a model, by the API that it uses: `azure.responses` and `my-proxy.responses` use
 * that of `openai.responses`, `vertex.anthropic.messages` that of `anthropic.messages`.
 */
export function getProviderProfile(model: Pick<LanguageModel, 'provider'>): ProviderProfile {
  const { provider } = model;
  const segments = provider.split('.');
  if (segments.at(-1) === 'responses') return openaiResponses;
  if (segments.includes('anthropic') || segments.at(-1) === 'messages') return anthropic;
  if (segments[0] === 'google') return gemini;
  if (provider === 'openai.chat' || /^azure.*\.chat$/.test(provider)) return openaiChat;
  if (segments[0] === 'ollama') return ollama;
  return segments[0] === 'openaiCompatible' ? compatible : unknownProvider;
}

const gemini: ProviderProfile = {
  dialect: 'gemini',
  unsupported: new Set<Feature>(['cache.key', 'cache.retention', 'parallelToolCalls']),
  options: ({ thinking: { budgetTokens, show } = {}, speed }) => ({
    ...omitUndefined({
      thinkingConfig:
        budgetTokens !== undefined || show === true
          ? omitUndefined({
              thinkingBudget: budgetTokens,
              includeThoughts: show === true ? true : undefined,
            })
          : undefined,
      serviceTier: speed === 'fast' ? 'priority' : undefined,
    }),
  }),
  optionNames: (family) => [family],
  aliases: () => ['googleVertex', 'vertex'],
  effortOption: (effort) => ({ thinkingConfig: { thinkingLevel: effort } }),
  declaresSupportedUrls: true,
  supportsResultImages: true,
  acceptsUnsignedThinking: false,
  toolProviders: (family) => ['google', family],
  omitsFinishReason: false,
};

const openaiChat: ProviderProfile = {
  dialect: 'openai',
  unsupported: new Set<Feature>(['topK', 'thinking.budgetTokens', 'thinking.show']),
  options: openaiOptions,
  optionNames: openaiNames,
  aliases: (family) => [family],
  cannotThink: isNonReasoningOpenAiModel,
  effortOption: (reasoningEffort) => ({ reasoningEffort }),
  declaresSupportedUrls: true,
  supportsResultImages: false,
  acceptsUnsignedThinking: false,
  toolProviders: () => [],
  omitsFinishReason: false,
};

const openaiResponses: ProviderProfile = {
  dialect: 'openai',
  unsupported: new Set<Feature>([
    'topK',
    'stopSequences',
    'presencePenalty',
    'frequencyPenalty',
    'seed',
    'thinking.budgetTokens',
  ]),
  options: (config, { modelId, encryptsThinking }) => ({
    ...openaiOptions(config),
    // The conversation is in our journal: the provider must not store it.
    store: false,
    // The package requests encrypted thinking only for model ids that it knows. A deployment may
    // have any id.
    ...omitUndefined({
      include:
        encryptsThinking && !isNonReasoningOpenAiModel(modelId)
          ? ['reasoning.encrypted_content']
          : undefined,
    }),
    ...forcedReasoning(config, modelId),
    ...omitUndefined({ reasoningSummary: config.thinking?.show === true ? 'auto' : undefined }),
  }),
  optionNames: openaiNames,
  familyOptions: { store: false },
  aliases: (family) => [family],
  cannotThink: isNonReasoningOpenAiModel,
  effortOption: (reasoningEffort) => ({ reasoningEffort }),
  declaresSupportedUrls: true,
  supportsResultImages: true,
  acceptsUnsignedThinking: false,
  toolProviders: (family) => ['openai', family],
  omitsFinishReason: true,
};

const anthropic: ProviderProfile = {
  dialect: 'anthropic',
  unsupported: new Set<Feature>([
    'presencePenalty',
    'frequencyPenalty',
    'seed',
    'json',
    'cache.key',
  ]),
  options: ({ thinking: { budgetTokens } = {}, parallelToolCalls, speed }) => ({
    ...omitUndefined({
      thinking: budgetTokens === undefined ? undefined : { type: 'enabled', budgetTokens },
      disableParallelToolUse: parallelToolCalls === false ? true : undefined,
      speed: speed === 'fast' ? 'fast' : undefined,
    }),
  }),
  optionNames: () => ['anthropic'],
  aliases: (family) => [family, 'googleVertex', 'vertex', 'bedrock', 'amazonBedrock'],
  effortOption: (effort) => ({ effort }),
  cacheMark: ({ retention }) => ({
    cacheControl: {
      type: 'ephemeral',
      ...omitUndefined({ ttl: retention === 'long' ? '1h' : undefined }),
    },
  }),
  declaresSupportedUrls: true,
  supportsResultImages: true,
  acceptsUnsignedThinking: false,
  toolProviders: (family) => ['anthropic', family],
  omitsFinishReason: false,
};

const compatibleUnsupported: readonly Feature[] = [
  'topK',
  'thinking.budgetTokens',
  'thinking.show',
  'cache.prefix',
  'cache.key',
  'cache.retention',
  'speed',
];

const compatible: ProviderProfile = {
  dialect: 'compatible',
  unsupported: new Set<Feature>(compatibleUnsupported),
  options: ({ parallelToolCalls }) =>
    parallelToolCalls === undefined ? {} : { parallel_tool_calls: parallelToolCalls },
  optionNames: (family) => [family],
  aliases: () => ['openaiCompatible', 'openai-compatible'],
  effortOption: (reasoningEffort) => ({ reasoningEffort }),
  declaresSupportedUrls: false,
  supportsResultImages: false,
  acceptsUnsignedThinking: true,
  toolProviders: () => [],
  omitsFinishReason: false,
};

/**
 * Any other package of the AI SDK. It reports itself which options of the specification it does not
 * support.
 */
const unknownProvider: ProviderProfile = {
  dialect: 'compatible',
  unsupported: new Set<Feature>([
    'thinking.budgetTokens',
    'thinking.show',
    'cache.prefix',
    'cache.key',
    'cache.retention',
    'parallelToolCalls',
    'speed',
  ]),
  options: () => ({}),
  optionNames: (family) => [family],
  declaresSupportedUrls: false,
  supportsResultImages: false,
  acceptsUnsignedThinking: false,
  omitsFinishReason: false,
};

/** An OpenAI-compatible server that documents the fields it does not read. */
const ollama: ProviderProfile = {
  ...compatible,
  unsupported: new Set<Feature>([
    ...compatibleUnsupported,
    'imageUrls',
    'files',
    'toolChoice',
    'parallelToolCalls',
  ]),
  options: () => ({}),
};

/**
 * Azure's models read options under their own name first, and then under OpenAI's, whatever the
 * name of the provider.
 */
function openaiNames(family: string): readonly string[] {
  return family.includes('azure') ? ['azure', 'openai'] : ['openai'];
}

/**
 * A caller who requests thinking knows that the model reasons, even if the package does not know
 * its id.
 */
function forcedReasoning({ thinking = {} }: GenerationConfig, modelId: string): JsonObject {
  const { effort = 'none', show = false } = thinking;
  const isRequested = effort !== 'none' || show;
  return isRequested && !isNonReasoningOpenAiModel(modelId) ? { forceReasoning: true } : {};
}

function openaiOptions({ cache = {}, parallelToolCalls, speed }: GenerationConfig): JsonObject {
  return omitUndefined({
    promptCacheKey: cache.key,
    promptCacheRetention: cache.retention === 'long' ? '24h' : undefined,
    parallelToolCalls,
    serviceTier: speed === 'fast' ? 'priority' : undefined,
  });
}

/**
 * Ids of models that are known not to reason. A deployment may have any name, so an unknown id may
 * reason.
 */
const NON_REASONING = /^(?:ft:)?(?:gpt-3|gpt-4|chatgpt-|davinci|babbage|gpt-\d+(?:\.\d+)?-chat)/;

/** Whether an OpenAI model certainly does not reason, by its id. */
function isNonReasoningOpenAiModel(modelId: string): boolean {
  return NON_REASONING.test(modelId);
}
