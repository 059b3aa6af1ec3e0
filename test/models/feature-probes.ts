import type { Feature, GenerationConfig, ModelSpec, ModelRequest } from '../../src/models/index.ts';

/**
 * A request that uses one feature, and how a request body shows it, in the spelling of any
 * provider.
 */
export interface FeatureProbe {
  readonly request: Partial<ModelRequest>;
  readonly sign: RegExp;
}

function configProbe(config: GenerationConfig, sign: RegExp): FeatureProbe {
  return { request: { config }, sign };
}

function partProbe(
  part: ModelRequest['contents'][number]['parts'][number],
  sign: RegExp,
): FeatureProbe {
  return { request: { contents: [{ role: 'user', parts: [{ text: 'Hi' }, part] }] }, sign };
}

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const answerSchema = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
};

export const featureProbes: Readonly<Record<Feature, FeatureProbe>> = {
  temperature: configProbe({ temperature: 0.25 }, /"temperature":0\.25/),
  topP: configProbe({ topP: 0.5 }, /"top_?p":0\.5/i),
  topK: configProbe({ topK: 7 }, /"top_?k":7/i),
  maxOutputTokens: configProbe({ maxOutputTokens: 77 }, /"max_?(output|completion)?_?tokens":77/i),
  stopSequences: configProbe({ stopSequences: ['END'] }, /"stop_?(sequences)?":\["END"\]/i),
  presencePenalty: configProbe({ presencePenalty: 0.5 }, /"presence_?penalty":0\.5/i),
  frequencyPenalty: configProbe({ frequencyPenalty: 0.5 }, /"frequency_?penalty":0\.5/i),
  seed: configProbe({ seed: 42 }, /"seed":42/),
  json: configProbe({ json: true }, /"json_object"|"application\/json"/),
  responseSchema: configProbe({ responseSchema: answerSchema }, /"answer":\{"type":"string"\}/),
  images: partProbe({ inlineData: { mimeType: 'image/png', data: pixel } }, /iVBORw0KGgo/),
  imageUrls: partProbe(
    { fileData: { mimeType: 'image/png', fileUri: 'https://example.com/a.png' } },
    /https:\/\/example\.com\/a\.png/,
  ),
  files: partProbe(
    { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0xLjQK' } },
    /JVBERi0xLjQK/,
  ),
  'thinking.effort': configProbe(
    { thinking: { effort: 'high' } },
    /"(effort|reasoning_effort|thinkingLevel)":"high"|"budget_tokens":\d+/,
  ),
  'thinking.budgetTokens': configProbe(
    { thinking: { budgetTokens: 2000 } },
    /"(thinkingBudget|budget_tokens)":2000/,
  ),
  'thinking.show': configProbe(
    { thinking: { show: true } },
    /"includeThoughts":true|"summary":"auto"/,
  ),
  'cache.prefix': configProbe(
    { cache: { prefix: 'conversation' } },
    /"cache_control":\{"type":"ephemeral"/,
  ),
  'cache.key': configProbe({ cache: { key: 'key-1' } }, /"prompt_cache_key":"key-1"/),
  'cache.retention': configProbe(
    { cache: { retention: 'long' } },
    /"prompt_cache_retention":"24h"|"ttl":"1h"/,
  ),
  toolChoice: configProbe(
    { toolChoice: { tool: 'f' } },
    /"tool_choice":\{[^}]*"name":"f"|"allowedFunctionNames":\["f"\]|"function":\{"name":"f"\}/,
  ),
  parallelToolCalls: configProbe(
    { parallelToolCalls: false },
    /"parallel_tool_calls":false|"disable_parallel_tool_use":true/,
  ),
  speed: configProbe({ speed: 'fast' }, /"service_?tier":"priority"|"speed":"fast"/i),
};

/** A model of the provider with this feature, if the default model of the tests lacks it. */
export function placeFor(place: ModelSpec, feature: Feature): ModelSpec {
  const isOpenAi = place.provider === 'openai';
  if (isOpenAi && feature.startsWith('thinking.')) return { ...place, model: 'gpt-5-mini' };
  if (isOpenAi && feature === 'speed') return { ...place, model: 'gpt-5-mini' };
  if (isOpenAi) return { ...place, model: 'gpt-4.1' };
  if (place.provider === 'gemini' && feature.endsWith('Penalty')) {
    return { ...place, model: 'gemini-2.0-flash' };
  }
  return place;
}
