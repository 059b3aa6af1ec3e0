import { omitUndefined } from '../../core/internal.ts';
import type { Content, Json, LogEntry, NodeInfo } from '../../core/index.ts';
import type { ParsedNodeResult } from './node-event.ts';
import type { ConversationItem } from '../vocabulary/conversation.ts';
import { branchField, toConversationItem } from '../vocabulary/agent-identity.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import type { NodeStep } from './workflow-places.ts';

/** The conversation item and the event of a node's result; none if it has no content, output or action. */
export function nodeMessage(
  identity: AgentIdentity,
  { invocationId, path, runId }: Pick<NodeStep, 'invocationId' | 'path' | 'runId'>,
  { content, output, route, shown }: ParsedNodeResult,
): { readonly said: readonly ConversationItem[]; readonly events: readonly LogEntry[] } {
  const actions = { ...shown, ...omitUndefined({ route }) };
  const hasActions = Object.keys(actions).length > 0;
  if (content === undefined && output === undefined && !hasActions) return { said: [], events: [] };
  const message: Content = { ...(content ?? { parts: [] }), role: 'model' };
  return {
    said:
      message.parts.length === 0
        ? []
        : [toConversationItem(identity, { invocationId, content: message })],
    events: [
      {
        type: 'agent.message',
        invocationId,
        author: identity.agentName,
        ...branchField(identity),
        content: message,
        ...omitUndefined({ output }),
        nodeInfo: toNodeInfo(identity, { path, runId }),
        ...omitUndefined({ actions: hasActions ? actions : undefined }),
      },
    ],
  };
}

/** The `nodeInfo` of the node's events. */
export function toNodeInfo(
  { agentName }: AgentIdentity,
  { path, runId }: Pick<NodeStep, 'path' | 'runId'>,
): NodeInfo {
  return { path, runId, name: agentName };
}

/** A value as text for a model or a user: strings as they are, other values as JSON. */
export function textContent(value: Json): Content {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { role: 'model', parts: [{ text }] };
}
