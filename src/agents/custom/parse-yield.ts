import { decodeJson, encodeJson, InvalidInputError, parseContent } from '../../core/index.ts';
import type { Content, Json, LogEntry, NodeInfo } from '../../core/index.ts';
import type { CustomYield } from './custom-generator.ts';
import { noActions, parseActions } from '../callbacks/parse-actions.ts';
import type { ParsedActions, ShownActions } from '../callbacks/parse-actions.ts';
import type { ConversationItem } from '../vocabulary/conversation.ts';
import { branchField, toConversationItem } from '../vocabulary/agent-identity.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';

/** A yield that was read. */
export interface ParsedYield {
  readonly content?: Content;
  readonly output?: Json;
  readonly actions: ParsedActions;
}

/** Members of an event that the log sets by itself. */
const LOG_MEMBERS: readonly string[] = ['id', 'timestamp', 'invocationId', 'author', 'branch'];

/** @throws InvalidInputError naming the member that is unknown, malformed or cannot be honored */
export function parseYield(value: Exclude<CustomYield, { readonly runs: string }>): ParsedYield {
  if (typeof value === 'string')
    return { content: { role: 'model', parts: [{ text: value }] }, actions: noActions };
  if (typeof value !== 'object' || value === null)
    throw new InvalidInputError(
      'yield',
      `must be text, content, or { content, actions, output }; it is ${String(value)}.`,
    );
  if ('parts' in value) return { ...toModelContent(value), actions: noActions };
  const { content, actions, output, ...others } = value;
  for (const [name, member] of Object.entries(others)) {
    if (LOG_MEMBERS.includes(name) || member === undefined || member === false) continue;
    throw new InvalidInputError(
      `yield.${name}`,
      'is not honored. An agent yields text, content, or { content, actions, output }.',
    );
  }
  return {
    ...(content !== undefined && toModelContent(content)),
    ...(output !== undefined && { output: decodeJson(encodeJson(output, 'output'), 'output') }),
    actions: parseActions(actions),
  };
}

/** Content without parts says nothing. */
function toModelContent(content: Content): Pick<ParsedYield, 'content'> {
  if (content.parts.length === 0) return {};
  return { content: parseContent({ ...content, role: 'model' }, { unknownParts: 'keep' }) };
}

/** What a yield says in the conversation and in the log: one event, or none when there is nothing to show. */
export function yieldMessage(
  identity: AgentIdentity,
  invocationId: string,
  {
    content,
    output,
    shown,
    node,
  }: Omit<ParsedYield, 'actions'> & {
    readonly shown: ShownActions;
    readonly node: NodeInfo | undefined;
  },
): { readonly said: readonly ConversationItem[]; readonly events: readonly LogEntry[] } {
  const hasActions = Object.keys(shown).length > 0;
  if (content === undefined && output === undefined && !hasActions) return { said: [], events: [] };
  return {
    said: content === undefined ? [] : [toConversationItem(identity, { invocationId, content })],
    events: [
      {
        type: 'agent.message',
        invocationId,
        author: identity.agentName,
        ...branchField(identity),
        content: content ?? { role: 'model', parts: [] },
        ...(output !== undefined && { output }),
        ...(hasActions && { actions: shown }),
        ...(node !== undefined && { nodeInfo: node }),
      },
    ],
  };
}
