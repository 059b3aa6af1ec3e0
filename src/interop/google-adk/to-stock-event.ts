import { omitUndefined } from '../../core/internal.ts';
import { createEvent } from '@google/adk';
import type { Event as StockEvent } from '@google/adk';
import { isOpaquePart } from '../../core/index.ts';
import type { Content, Event, FinishReason, Part, Usage } from '../../core/index.ts';

type StockContent = NonNullable<StockEvent['content']>;
type StockPart = NonNullable<StockContent['parts']>[number];

const FINISH_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'STOP',
  tool_calls: 'STOP',
  max_tokens: 'MAX_TOKENS',
  refusal: 'SAFETY',
  other: 'OTHER',
};

/** The place of an event in the stock session. */
export interface StockEventContext {
  readonly invocationId: string;
  readonly branch: string | undefined;
  /** The author of system events. */
  readonly agentName: string;
}

/** Converts an event to stock ADK. Transfers between agents inside the net are not converted. */
export function toStockEvent(event: Event, context: StockEventContext): StockEvent {
  const { content, usage, finishReason, actions, errorCode, errorMessage } = event;
  const { stateDelta, artifactDelta, skipSummarization, escalate } = actions;
  return createEvent({
    id: event.id,
    timestamp: Math.round(event.timestamp * 1000),
    invocationId: context.invocationId,
    author: event.author === 'system' ? context.agentName : event.author,
    ...omitUndefined({
      branch: context.branch,
      content: content === undefined ? undefined : toStockContent(content),
      partial: event.partial === true ? true : undefined,
      longRunningToolIds:
        event.longRunningToolIds === undefined ? undefined : [...event.longRunningToolIds],
      usageMetadata: usage === undefined ? undefined : toUsageMetadata(usage),
      finishReason: finishReason === undefined ? undefined : toFinishReason(finishReason),
      errorCode,
      errorMessage,
      customMetadata: event.customMetadata === undefined ? undefined : { ...event.customMetadata },
    }),
    actions: {
      stateDelta: { ...stateDelta },
      artifactDelta: { ...artifactDelta },
      ...omitUndefined({
        skipSummarization: skipSummarization === true ? skipSummarization : undefined,
        escalate: escalate === true ? escalate : undefined,
      }),
    },
  });
}

function toFinishReason(reason: FinishReason): NonNullable<StockEvent['finishReason']> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the values of stock ADK's enum
  return FINISH_REASONS[reason] as NonNullable<StockEvent['finishReason']>;
}

export function toStockContent({ role, parts }: Content): StockContent {
  return { role: role === 'model' ? 'model' : 'user', parts: parts.map(toStockPart) };
}

function toStockPart(part: Part): StockPart {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a provider's block is passed on unchanged
  if (isOpaquePart(part)) return part.opaque as StockPart;
  if ('functionCall' in part) {
    const { id, name, args } = part.functionCall;
    return { ...part, functionCall: { id, name, args: { ...args } } };
  }
  if ('functionResponse' in part) {
    const { id, name, response } = part.functionResponse;
    return { functionResponse: { id, name, response: { ...response } } };
  }
  return { ...part };
}

function toUsageMetadata(usage: Usage): NonNullable<StockEvent['usageMetadata']> {
  const { inputTokens, outputTokens, totalTokens, thinkingTokens, cacheReadTokens } = usage;
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
