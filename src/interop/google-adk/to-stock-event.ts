import { omitUndefined, toAdkParts } from '../../core/internal.ts';
import { createEvent } from '@google/adk';
import type { Event as StockEvent } from '@google/adk';
import { isOpaquePart } from '../../core/index.ts';
import type { Content, Event, OpaquePart, Part } from '../../core/index.ts';

type StockContent = NonNullable<StockEvent['content']>;
type StockPart = NonNullable<StockContent['parts']>[number];

/** The place of an event in the stock session. */
export interface StockEventContext {
  readonly invocationId: string;
  readonly branch: string | undefined;
  /** The author of system events. */
  readonly agentName: string;
}

/** Converts an event to stock ADK. Transfers between agents inside the net are not converted. */
export function toStockEvent(event: Event, context: StockEventContext): StockEvent {
  const { content, usageMetadata, finishReason, actions, errorCode, errorMessage } = event;
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
      usageMetadata: usageMetadata && { ...usageMetadata },
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the values of stock ADK's enum
      finishReason: finishReason as StockEvent['finishReason'],
      groundingMetadata: event.groundingMetadata,
      citationMetadata: event.citationMetadata,
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

export function toStockContent({ role, parts }: Content): StockContent {
  return { role: role === 'model' ? 'model' : 'user', parts: parts.flatMap(toStockParts) };
}

function toStockParts(part: Part): readonly StockPart[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a provider's block, or ADK's form of it
  return isOpaquePart(part) ? (toAdkParts(part) as readonly StockPart[]) : [toStockPart(part)];
}

function toStockPart(part: Exclude<Part, OpaquePart>): StockPart {
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
