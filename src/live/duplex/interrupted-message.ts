import { agentMessageEvent, toConversationItem } from '../../agents/internal.ts';
import type { ConversationItem } from '../../agents/index.ts';
import { INTERRUPTED_METADATA, AUDIBLE_METADATA } from '../../core/internal.ts';
import type { LogEntry } from '../../core/index.ts';
import type { ActiveReply } from '../vocabulary/reply-places.ts';
import { findSpeaker } from '../vocabulary/speaker.ts';
import type { Speaker } from '../vocabulary/speaker.ts';

/** The conversation item and the event of a reply that was cut. Nothing if nobody heard a word of it. */
export function interruptedMessage(
  speakers: readonly Speaker[],
  { invocationId, agent }: Pick<ActiveReply, 'invocationId' | 'agent'>,
  text: string,
  isAudible: boolean,
): { readonly said: readonly ConversationItem[]; readonly events: readonly LogEntry[] } {
  if (text === '') return { said: [], events: [] };
  const { identity } = findSpeaker(speakers, agent);
  const content = { role: 'model' as const, parts: [{ text }] };
  return {
    said: [toConversationItem(identity, { invocationId, content })],
    events: [
      agentMessageEvent(identity, invocationId, content, {
        finishReason: 'other',
        providerMetadata: {
          [INTERRUPTED_METADATA]: 'true',
          ...(isAudible && { [AUDIBLE_METADATA]: 'true' }),
        },
      }),
    ],
  };
}
