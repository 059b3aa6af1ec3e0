import type { OptionNames } from '../../core/index.ts';
import type { CacheConfig, GenerationConfig, ThinkingConfig } from './model.ts';

/** The member names of `GenerationConfig`. */
export const GENERATION_NAMES: OptionNames<GenerationConfig> = {
  temperature: true,
  topP: true,
  topK: true,
  maxOutputTokens: true,
  stopSequences: true,
  presencePenalty: true,
  frequencyPenalty: true,
  seed: true,
  json: true,
  responseSchema: true,
  thinking: { effort: true, budgetTokens: true, show: true } satisfies OptionNames<ThinkingConfig>,
  cache: { prefix: true, key: true, retention: true } satisfies OptionNames<CacheConfig>,
  toolChoice: true,
  parallelToolCalls: true,
  speed: true,
  providerOptions: true,
  onUnsupported: true,
};
