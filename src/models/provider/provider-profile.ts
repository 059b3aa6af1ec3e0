import type { JsonObject } from '../../core/index.ts';
import type { Feature } from './feature.ts';
import type { LanguageModel } from './language-model.ts';
import type { CacheConfig, GenerationConfig } from '../model/model.ts';
import { isNonReasoningOpenAiModel } from './openai-model-id.ts';
import type { SchemaDialect } from '../schema/normalize-schema.ts';

/** What is particular to one way of talking to models, beyond what its package already levels. */
export interface ProviderProfile {
  readonly dialect: SchemaDialect;
  /** What there is no word for on this wire. */
  readonly unsupported: ReadonlySet<Feature>;
  /** The wishes that only this provider's own options can say. */
  readonly options: (config: GenerationConfig, call: ProfiledCall) => JsonObject;
  /** The names under which its package looks for these options, for a provider of this family. */
  readonly optionNames: (family: string) => readonly string[];
  /** Options that a package of another maker reads under its own name on the same wire. */
  readonly familyOptions?: JsonObject;
  /** Further names that its package reads; unknown for a package that is not known. */
  readonly aliases?: (family: string) => readonly string[];
  /** The model surely does not think, whatever effort is asked for. */
  readonly cannotThink?: (modelId: string) => boolean;
  /** How effort is said where the specification has no word for it: in version 3. */
  readonly effortOption?: (effort: string) => JsonObject;
  /** How the end of what should be cached is marked in the prompt, where it is marked at all. */
  readonly cacheMark?: (cache: CacheConfig) => JsonObject;
  /** It says itself which addresses of files it fetches. */
  readonly declaresSupportedUrls: boolean;
  /** It can be shown an image inside the result of a tool. */
  readonly supportsResultImages: boolean;
  /** Thinking goes back to it although nothing sealed it. */
  readonly acceptsUnsignedThinking: boolean;
  /** An ordinary end has no reason on this wire. */
  readonly omitsFinishReason: boolean;
}

/** What options depend on beside the configuration. */
export interface ProfiledCall {
  readonly modelId: string;
  /** The service is asked to seal the thinking, so that it can go back. */
  readonly encryptsThinking: boolean;
}

/** Names of provider options that some package reads. One of them is no mistake, even where another one is asked. */
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
 * The profile of a model, by the wire that it speaks: `azure.responses` and `my-proxy.responses` speak that of
 * `openai.responses`, `vertex.anthropic.messages` that of `anthropic.messages`.
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
    ...((budgetTokens !== undefined || show === true) && {
      thinkingConfig: {
        ...(budgetTokens !== undefined && { thinkingBudget: budgetTokens }),
        ...(show === true && { includeThoughts: true }),
      },
    }),
    ...(speed === 'fast' && { serviceTier: 'priority' }),
  }),
  optionNames: (family) => [family],
  aliases: () => ['googleVertex', 'vertex'],
  effortOption: (effort) => ({ thinkingConfig: { thinkingLevel: effort } }),
  declaresSupportedUrls: true,
  supportsResultImages: true,
  acceptsUnsignedThinking: false,
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
    // The conversation is in our journal: nothing is to be looked up in theirs.
    store: false,
    // The package asks for sealed thinking where it knows the id of the model. A deployment may have any.
    ...(encryptsThinking &&
      !isNonReasoningOpenAiModel(modelId) && { include: ['reasoning.encrypted_content'] }),
    ...forcedReasoning(config, modelId),
    ...(config.thinking?.show === true && { reasoningSummary: 'auto' }),
  }),
  optionNames: openaiNames,
  familyOptions: { store: false },
  aliases: (family) => [family],
  cannotThink: isNonReasoningOpenAiModel,
  effortOption: (reasoningEffort) => ({ reasoningEffort }),
  declaresSupportedUrls: true,
  supportsResultImages: true,
  acceptsUnsignedThinking: false,
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
    ...(budgetTokens !== undefined && { thinking: { type: 'enabled', budgetTokens } }),
    ...(parallelToolCalls === false && { disableParallelToolUse: true }),
    ...(speed === 'fast' && { speed: 'fast' }),
  }),
  optionNames: () => ['anthropic'],
  aliases: (family) => [family, 'googleVertex', 'vertex', 'bedrock', 'amazonBedrock'],
  effortOption: (effort) => ({ effort }),
  cacheMark: ({ retention }) => ({
    cacheControl: { type: 'ephemeral', ...(retention === 'long' && { ttl: '1h' }) },
  }),
  declaresSupportedUrls: true,
  supportsResultImages: true,
  acceptsUnsignedThinking: false,
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
  omitsFinishReason: false,
};

/** Any other package of the AI SDK: it says itself what it lacks of what the specification has a word for. */
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

/** An OpenAI-compatible server that documents which of the fields it does not read. */
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

/** Azure's models look under their own name first, and then under OpenAI's, whatever else the provider is called. */
function openaiNames(family: string): readonly string[] {
  return family.includes('azure') ? ['azure', 'openai'] : ['openai'];
}

/** Whoever asks for thinking knows that the model thinks, also where its package does not know the id. */
function forcedReasoning({ thinking = {} }: GenerationConfig, modelId: string): JsonObject {
  const { effort = 'none', show = false } = thinking;
  const isRequested = effort !== 'none' || show;
  return isRequested && !isNonReasoningOpenAiModel(modelId) ? { forceReasoning: true } : {};
}

function openaiOptions({ cache = {}, parallelToolCalls, speed }: GenerationConfig): JsonObject {
  return {
    ...(cache.key !== undefined && { promptCacheKey: cache.key }),
    ...(cache.retention === 'long' && { promptCacheRetention: '24h' }),
    ...(parallelToolCalls !== undefined && { parallelToolCalls }),
    ...(speed === 'fast' && { serviceTier: 'priority' }),
  };
}
