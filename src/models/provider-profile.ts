import type { JsonObject } from '../core/index.ts';
import type { Feature } from './feature.ts';
import type { LanguageModel } from './language-model.ts';
import type { CacheConfig, GenerationConfig } from './model.ts';
import type { SchemaDialect } from './schema/normalise-schema.ts';

/** What is particular to one way of talking to models, beyond what its package already levels. */
export interface ProviderProfile {
  readonly dialect: SchemaDialect;
  /** What there is no word for on this wire. */
  readonly lacks: ReadonlySet<Feature>;
  /** The wishes that only this provider's own options can say. */
  readonly options: (config: GenerationConfig) => JsonObject;
  /** How effort is said where the specification has no word for it: in version 3. */
  readonly effortOption?: (effort: string) => JsonObject;
  /** How the end of what should be cached is marked in the prompt, where it is marked at all. */
  readonly cacheMark?: (cache: CacheConfig) => JsonObject;
  /** It says itself which addresses of files it fetches. */
  readonly checksUrls: boolean;
  /** It can be shown an image inside the result of a tool. */
  readonly seesResultImages: boolean;
  /** Thinking goes back to it although nothing sealed it. */
  readonly echoesThinking: boolean;
  /** An ordinary end has no reason on this wire. */
  readonly endsUnnamed: boolean;
}

/**
 * The profile of a model, by the wire that it speaks: `azure.responses` and `my-proxy.responses` speak that of
 * `openai.responses`, `vertex.anthropic.messages` that of `anthropic.messages`.
 */
export function profileOf(model: Pick<LanguageModel, 'provider'>): ProviderProfile {
  const { provider } = model;
  const words = provider.split('.');
  if (words.at(-1) === 'responses') return openaiResponses;
  if (words.includes('anthropic') || words.at(-1) === 'messages') return anthropic;
  if (words[0] === 'google') return gemini;
  if (provider === 'openai.chat' || /^azure.*\.chat$/.test(provider)) return openaiChat;
  if (words[0] === 'ollama') return ollama;
  return words[0] === 'openaiCompatible' ? compatible : stranger;
}

const gemini: ProviderProfile = {
  dialect: 'gemini',
  lacks: new Set<Feature>(['cache.key', 'cache.retention', 'parallelToolCalls']),
  options: ({ thinking: { budgetTokens, show } = {}, speed }) => ({
    ...((budgetTokens !== undefined || show === true) && {
      thinkingConfig: {
        ...(budgetTokens !== undefined && { thinkingBudget: budgetTokens }),
        ...(show === true && { includeThoughts: true }),
      },
    }),
    ...(speed === 'fast' && { serviceTier: 'priority' }),
  }),
  effortOption: (effort) => ({ thinkingConfig: { thinkingLevel: effort } }),
  checksUrls: true,
  seesResultImages: true,
  echoesThinking: false,
  endsUnnamed: false,
};

const openaiChat: ProviderProfile = {
  dialect: 'openai',
  lacks: new Set<Feature>(['topK', 'thinking.budgetTokens', 'thinking.show']),
  options: openaiOptions,
  effortOption: (reasoningEffort) => ({ reasoningEffort }),
  checksUrls: true,
  seesResultImages: false,
  echoesThinking: false,
  endsUnnamed: false,
};

const openaiResponses: ProviderProfile = {
  dialect: 'openai',
  lacks: new Set<Feature>([
    'topK',
    'stopSequences',
    'presencePenalty',
    'frequencyPenalty',
    'seed',
    'thinking.budgetTokens',
  ]),
  options: (config) => ({
    ...openaiOptions(config),
    // The conversation is in our journal: nothing is to be looked up in theirs.
    store: false,
    ...(config.thinking?.show === true && { reasoningSummary: 'auto' }),
  }),
  effortOption: (reasoningEffort) => ({ reasoningEffort }),
  checksUrls: true,
  seesResultImages: true,
  echoesThinking: false,
  endsUnnamed: true,
};

const anthropic: ProviderProfile = {
  dialect: 'anthropic',
  lacks: new Set<Feature>(['presencePenalty', 'frequencyPenalty', 'seed', 'json', 'cache.key']),
  options: ({ thinking: { budgetTokens } = {}, parallelToolCalls, speed }) => ({
    ...(budgetTokens !== undefined && { thinking: { type: 'enabled', budgetTokens } }),
    ...(parallelToolCalls === false && { disableParallelToolUse: true }),
    ...(speed === 'fast' && { speed: 'fast' }),
  }),
  effortOption: (effort) => ({ effort }),
  cacheMark: ({ retention }) => ({
    cacheControl: { type: 'ephemeral', ...(retention === 'long' && { ttl: '1h' }) },
  }),
  checksUrls: true,
  seesResultImages: true,
  echoesThinking: false,
  endsUnnamed: false,
};

const compatibleLacks: readonly Feature[] = [
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
  lacks: new Set<Feature>(compatibleLacks),
  options: ({ parallelToolCalls }) =>
    parallelToolCalls === undefined ? {} : { parallel_tool_calls: parallelToolCalls },
  effortOption: (reasoningEffort) => ({ reasoningEffort }),
  checksUrls: false,
  seesResultImages: false,
  echoesThinking: true,
  endsUnnamed: false,
};

/** Any other package of the AI SDK: it says itself what it lacks of what the specification has a word for. */
const stranger: ProviderProfile = {
  dialect: 'compatible',
  lacks: new Set<Feature>([
    'thinking.budgetTokens',
    'thinking.show',
    'cache.prefix',
    'cache.key',
    'cache.retention',
    'parallelToolCalls',
    'speed',
  ]),
  options: () => ({}),
  checksUrls: false,
  seesResultImages: false,
  echoesThinking: false,
  endsUnnamed: false,
};

/** An OpenAI-compatible server that documents which of the fields it does not read. */
const ollama: ProviderProfile = {
  ...compatible,
  lacks: new Set<Feature>([
    ...compatibleLacks,
    'imageUrls',
    'files',
    'toolChoice',
    'parallelToolCalls',
  ]),
  options: () => ({}),
};

function openaiOptions({ cache = {}, parallelToolCalls, speed }: GenerationConfig): JsonObject {
  return {
    ...(cache.key !== undefined && { promptCacheKey: cache.key }),
    ...(cache.retention === 'long' && { promptCacheRetention: '24h' }),
    ...(parallelToolCalls !== undefined && { parallelToolCalls }),
    ...(speed === 'fast' && { serviceTier: 'priority' }),
  };
}
