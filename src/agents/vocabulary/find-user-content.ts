import type { Content, InvocationId } from '../../core/index.ts';
import type { ConversationItem } from './conversation.ts';

/** The user's message that started an invocation; undefined if the conversation does not contain it. */
export function findUserContent(
  conversation: readonly ConversationItem[],
  invocationId: InvocationId,
): Content | undefined {
  return findUserItem(conversation, invocationId)?.content;
}

/** The item of the user's message that started an invocation; undefined if the conversation does not contain it. */
export function findUserItem(
  conversation: readonly ConversationItem[],
  invocationId: InvocationId,
): ConversationItem | undefined {
  return conversation.find(
    (item) => item.invocationId === invocationId && item.content.role === 'user',
  );
}
