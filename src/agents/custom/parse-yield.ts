import { omitUndefined } from '../../core/internal.ts';
import { decodeJson, encodeJson, InvalidInputError, parseContent } from '../../core/index.ts';
import type { Content, Json, LogEntry, NodeInfo } from '../../core/index.ts';
import type { CustomYield } from './custom-generator.ts';
import { noActions, parseActions } from '../callbacks/parse-actions.ts';
import type { ParsedActions, ShownActions } from '../callbacks/parse-actions.ts';
import type { ConversationItem } from '../vocabulary/conversation.ts';
import { branchField, toConversationItem } from '../vocabulary/agent-identity.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';

/** A validated yield. */
export interface ParsedYield {
  readonly content?: Content;
  readonly output?: Json;
  readonly actions: ParsedActions;
}

/** Members of an event that the log sets. A yield may contain them; they are ignored. */
const LOG_MEMBERS: readonly string[] = ['id', 'timestamp', 'invocationId', 'author', 'branch'];

/**
 * Parses the value that a custom agent yielded.
 * @throws InvalidInputError for a member that is unknown, malformed or unsupported
 */
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
      'is not supported. An agent yields text, content, or { content, actions, output }.',
    );
  }
  return {
    ...(content !== undefined && toModelContent(content)),
    ...omitUndefined({
      output: output === undefined ? undefined : decodeJson(encodeJson(output, 'output'), 'output'),
    }),
    actions: parseActions(actions),
  };
}

/** The content as a model message; nothing if it has no parts. */
function toModelContent(content: Content): Pick<ParsedYield, 'content'> {
  if (content.parts.length === 0) return {};
  return { content: parseContent({ ...content, role: 'model' }, { unknownParts: 'keep' }) };
}

/** The conversation item and the event of a yield; none if it has no content, output or shown action. */
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
        ...omitUndefined({ output, actions: hasActions ? shown : undefined, nodeInfo: node }),
      },
    ],
  };
}
