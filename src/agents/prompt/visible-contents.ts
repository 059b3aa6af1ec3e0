import { isFunctionCallPart, isFunctionResponsePart, isTextPart } from '../../core/index.ts';
import type { Content, Part } from '../../core/index.ts';
import type { ConversationItem } from '../vocabulary/conversation.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';

/** How messages of other agents are rewritten: `adk` in the words of ADK. */
export type ForeignStyle = 'adk' | 'plain';

/**
 * The contents shown to one agent of several: user messages and its own messages unchanged, messages of other agents
 * rewritten as context, messages of concurrent branches left out.
 */
export function visibleContents(
  { agentName, multiAgent }: AgentIdentity,
  conversation: readonly ConversationItem[],
  /** Cache of rewritten messages, so that the same message is rewritten to the same object each time. */
  rewritten: WeakMap<Content, readonly Content[]> = new WeakMap(),
  style: ForeignStyle = 'plain',
): readonly Content[] {
  return conversation
    .filter((item) => isBranchVisible(item.branch, multiAgent?.branch))
    .flatMap(({ author, content }) => {
      if (author === undefined || author === agentName) return [content];
      const contents = rewritten.get(content) ?? asForeignMessage(author, content, style);
      rewritten.set(content, contents);
      return contents;
    });
}

/** True when a message of branch `from` is visible in branch `to`: the same branch, one below it, or the main line. */
export function isBranchVisible(from: string | undefined, to: string | undefined): boolean {
  return from === undefined || to === undefined || `${to}.`.startsWith(`${from}.`);
}

/** True if another agent made the call. */
export function isForeignCall(
  agentName: string | undefined,
  conversation: readonly ConversationItem[],
  callId: string,
): boolean {
  return conversation.some(
    ({ author, content }) =>
      author !== undefined &&
      author !== agentName &&
      content.parts.some((part) => isFunctionCallPart(part) && part.functionCall.id === callId),
  );
}

const FOREIGN_PREFIX = 'For context:';

/** True for another agent's message that was rewritten as context. */
export function isForeignMessage({ role, parts: [first] }: Content): boolean {
  return (
    role === 'user' && first !== undefined && isTextPart(first) && first.text === FOREIGN_PREFIX
  );
}

/** Rewrites another agent's message as a user message that describes it. */
function asForeignMessage(
  author: string,
  { parts }: Content,
  style: ForeignStyle,
): readonly Content[] {
  const rewritten = parts.flatMap((part): readonly Part[] => {
    // Thoughts and provider-specific parts are left out: other agents and models cannot use them.
    if (isTextPart(part))
      return part.text === '' || part.thought === true
        ? []
        : [{ text: `[${author}] said: ${part.text}` }];
    if (isFunctionCallPart(part)) {
      const { name, args } = part.functionCall;
      return [{ text: `[${author}] ${describeCall(style, name, JSON.stringify(args))}` }];
    }
    if (isFunctionResponsePart(part)) {
      const { name, response } = part.functionResponse;
      return [{ text: `[${author}] ${describeResult(style, name, JSON.stringify(response))}` }];
    }
    if ('inlineData' in part) return [{ inlineData: part.inlineData }];
    return 'fileData' in part ? [part] : [];
  });
  return rewritten.length === 0
    ? []
    : [{ role: 'user', parts: [{ text: FOREIGN_PREFIX }, ...rewritten] }];
}

// The words of ADK are those of Google's Agent Development Kit. See NOTICE.

function describeCall(style: ForeignStyle, name: string, args: string): string {
  return style === 'adk'
    ? `called tool \`${name}\` with parameters: ${args}`
    : `called \`${name}\` with ${args}`;
}

function describeResult(style: ForeignStyle, name: string, response: string): string {
  return style === 'adk'
    ? `tool \`${name}\` returned result: ${response}`
    : `\`${name}\` returned ${response}`;
}
