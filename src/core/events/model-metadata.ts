import { omitUndefined } from '../json/omit-undefined.ts';
import type { Content } from '../content/content.ts';
import { listCitations } from '../content/provider-part.ts';
import { decodeJson } from '../json/decode-json.ts';
import { isJsonObject, type JsonObject } from '../json/json.ts';
import type { AdkFinishReason, FinishReason, ProviderMetadata, UsageMetadata } from './event.ts';
import type { Usage } from './usage.ts';

const FINISH_REASONS: Readonly<Record<FinishReason, AdkFinishReason>> = {
  stop: 'STOP',
  tool_calls: 'STOP',
  max_tokens: 'MAX_TOKENS',
  refusal: 'SAFETY',
  other: 'OTHER',
};

/** Members of a response's metadata that say, as JSON, on which sources it is based. */
export const GROUNDING_METADATA: readonly string[] = ['groundingMetadata', 'urlContextMetadata'];

/** What ADK's events say about the sources of a response. */
export function toGroundingFields(
  content: Content,
  { groundingMetadata }: ProviderMetadata = {},
): { readonly groundingMetadata?: JsonObject; readonly citationMetadata?: JsonObject } {
  const grounding = parseMetadata(groundingMetadata);
  if (grounding !== undefined) return { groundingMetadata: grounding };
  const citations = listCitations(content);
  return citations.length === 0 ? {} : { citationMetadata: { citations } };
}

function parseMetadata(text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined;
  try {
    const value = decodeJson(text, 'providerMetadata');
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Converts the reason why a model stopped to ADK's name of it. */
export function toAdkFinishReason(reason: FinishReason): AdkFinishReason {
  return FINISH_REASONS[reason];
}

/** Converts the usage of a model to ADK's form. There the output tokens do not include the thinking. */
export function toUsageMetadata({
  inputTokens,
  outputTokens,
  totalTokens,
  thinkingTokens,
  cacheReadTokens,
}: Usage): UsageMetadata {
  return {
    promptTokenCount: inputTokens,
    candidatesTokenCount: outputTokens - (thinkingTokens ?? 0),
    totalTokenCount: totalTokens,
    ...omitUndefined({
      thoughtsTokenCount: thinkingTokens,
      cachedContentTokenCount: cacheReadTokens,
    }),
  };
}
