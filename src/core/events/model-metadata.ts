import { omitUndefined } from '../json/omit-undefined.ts';
import type { AdkFinishReason, FinishReason, UsageMetadata } from './event.ts';
import type { Usage } from './usage.ts';

const FINISH_REASONS: Readonly<Record<FinishReason, AdkFinishReason>> = {
  stop: 'STOP',
  tool_calls: 'STOP',
  max_tokens: 'MAX_TOKENS',
  refusal: 'SAFETY',
  other: 'OTHER',
};

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
