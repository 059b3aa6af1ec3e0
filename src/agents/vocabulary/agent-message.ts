import { omitUndefined } from '../../core/internal.ts';
import type { AgentMessage, Content, LogEntry } from '../../core/index.ts';
import { append, upTo } from '../../net/index.ts';
import type { Append, UpTo } from '../../net/index.ts';
import { conversation } from './conversation.ts';
import type { ConversationItem } from './conversation.ts';
import { branchField, toConversationItem } from './agent-identity.ts';
import type { AgentIdentity } from './agent-identity.ts';
import { eventOut } from './messages.ts';
import { sessionWrite } from './state.ts';
import type { SessionWrite } from './state.ts';

/** Members of an agent's message event beside its author and content. */
export type MessageDetails = {
  readonly [
    K in Exclude<keyof AgentMessage, 'type' | 'invocationId' | 'author' | 'branch' | 'content'>
  ]?: AgentMessage[K] | undefined;
};

/** The output arcs of an effect that runs user code: conversation, log and state. */
export const messageArcs: {
  readonly said: Append<ConversationItem>;
  readonly events: UpTo<LogEntry>;
  readonly write: UpTo<SessionWrite>;
} = { said: append(conversation), events: upTo(2, eventOut), write: upTo(1, sessionWrite) };

/** The conversation items and the events of a message. */
export interface MessageTokens {
  readonly said: readonly ConversationItem[];
  readonly events: readonly AgentMessage[];
}

/** The log event of an agent's message. */
export function agentMessageEvent(
  identity: AgentIdentity,
  invocationId: string,
  content: Content,
  details: MessageDetails = {},
): AgentMessage {
  return {
    type: 'agent.message',
    invocationId,
    author: identity.agentName,
    ...branchField(identity),
    content,
    ...omitUndefined(details),
  };
}

/**
 * A message of an agent for the conversation and the log. Content without parts is not in the conversation. Nothing if
 * there is neither content nor a detail.
 */
export function agentMessage(
  identity: AgentIdentity,
  invocationId: string,
  content: Content | undefined,
  { nodeInfo, ...details }: MessageDetails = {},
): MessageTokens {
  const isEmpty = Object.values(details).every((value) => value === undefined);
  if (content === undefined && isEmpty) return { said: [], events: [] };
  const message: Content = { ...(content ?? { parts: [] }), role: 'model' };
  const item = { invocationId, content: message };
  return {
    said: message.parts.length === 0 ? [] : [toConversationItem(identity, item)],
    events: [agentMessageEvent(identity, invocationId, message, { ...details, nodeInfo })],
  };
}
