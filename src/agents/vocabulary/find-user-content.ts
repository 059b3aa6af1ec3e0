import type { Content, InvocationId } from '../../core/index.ts';
import type { ConversationItem } from './conversation.ts';

/** The message that began an invocation; nothing when the conversation does not have it. */
export function findUserContent(
  conversation: readonly ConversationItem[],
  invocationId: InvocationId,
): Content | undefined {
  return conversation.find(
    (item) => item.invocationId === invocationId && item.content.role === 'user',
  )?.content;
}
