import type { ConversationItem } from '../../agents/index.ts';
import { isFunctionCallPart } from '../../core/index.ts';
import type { Part } from '../../core/index.ts';
import { omitUndefined } from '../../core/internal.ts';
import type { LiveCommand, LiveToolResult } from '../models/live-command.ts';
import { isCanceledByModel } from '../vocabulary/canceled-by-model.ts';
import { SPEECH_METADATA } from '../vocabulary/speech-metadata.ts';

/** What is known about a request for a reply. */
export interface RequestFacts {
  readonly invocationId: string;
  readonly conn: string;
  /** How many items of the conversation the connection has. */
  readonly historyLength: number;
  /** True if the request is for the first reply to speech that the connection has. */
  readonly isSpeech: boolean;
}

/**
 * What a connection is sent so that it replies: the message or the results that it does not have yet, or only the word
 * that it replies to what it has. Undefined for speech, which the model answers by itself.
 */
export function findRequestInput(
  conversation: readonly ConversationItem[],
  { invocationId, conn, historyLength, isSpeech }: RequestFacts,
): LiveCommand | undefined {
  const index = conversation.findLastIndex((item) => item.invocationId === invocationId);
  const item = conversation[index];
  if (isSpeech) return undefined;
  if (item === undefined) return { kind: 'respond' };
  const { content, metadata } = item;
  if (content.role === 'user' && metadata?.custom?.[SPEECH_METADATA] === conn) return undefined;
  if (index < historyLength || content.role === 'model') return { kind: 'respond' };
  if (content.role === 'user') return { kind: 'text', content };
  const providerIds = listProviderIds(conversation);
  const results = content.parts.flatMap((part) => toResult(part, providerIds));
  return results.length === 0 ? { kind: 'respond' } : { kind: 'tool-result', results };
}

/** The provider's id of each call. */
function listProviderIds(conversation: readonly ConversationItem[]): ReadonlyMap<string, string> {
  return new Map(
    conversation
      .flatMap(({ content }) => content.parts)
      .filter((part) => isFunctionCallPart(part))
      .map(({ functionCall: { id, providerId = id } }) => [id, providerId]),
  );
}

function toResult(part: Part, providerIds: ReadonlyMap<string, string>): readonly LiveToolResult[] {
  if (!('functionResponse' in part)) return [];
  const { id, name, response, isError } = part.functionResponse;
  if (isCanceledByModel(response)) return [];
  return [
    {
      callId: providerIds.get(id) ?? id,
      name,
      response,
      ...omitUndefined({ isError }),
    },
  ];
}
