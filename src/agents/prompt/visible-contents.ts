import { isFunctionCallPart, isFunctionResponsePart, isTextPart } from '../../core/index.ts';
import type { Content, Part } from '../../core/index.ts';
import type { ConversationItem } from '../vocabulary/conversation.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';

/**
 * What an agent hears of a conversation of several: users and itself as they are, the others told as context, and of
 * those who speak side by side with it nothing.
 */
export function visibleContents(
  { agentName, multiAgent }: AgentIdentity,
  conversation: readonly ConversationItem[],
  /** What was made of others' words before: the same words are the same messages. */
  rewritten: WeakMap<Content, readonly Content[]> = new WeakMap(),
): readonly Content[] {
  return conversation
    .filter((item) => isBranchVisible(item.branch, multiAgent?.branch))
    .flatMap(({ author, content }) => {
      if (author === undefined || author === agentName) return [content];
      const contents = rewritten.get(content) ?? asForeignMessage(author, content);
      rewritten.set(content, contents);
      return contents;
    });
}

/** True when what is said in a branch is heard in another: in it, in the branches that begin there, and where it has ended. */
export function isBranchVisible(from: string | undefined, to: string | undefined): boolean {
  return from === undefined || to === undefined || `${to}.`.startsWith(`${from}.`);
}

const FOREIGN_PREFIX = 'For context:';

/** True for another agent's words, as an agent is told them. */
export function isForeignMessage({ role, parts: [first] }: Content): boolean {
  return (
    role === 'user' && first !== undefined && isTextPart(first) && first.text === FOREIGN_PREFIX
  );
}

/** Another agent's words, as somebody would tell them. */
function asForeignMessage(author: string, { parts }: Content): readonly Content[] {
  const rewritten = parts.flatMap((part): readonly Part[] => {
    // Its thinking, and what only its provider can read, are nobody else's.
    if (isTextPart(part))
      return part.text === '' || part.thought === true
        ? []
        : [{ text: `[${author}] said: ${part.text}` }];
    if (isFunctionCallPart(part)) {
      const { name, args } = part.functionCall;
      return [{ text: `[${author}] called \`${name}\` with ${JSON.stringify(args)}` }];
    }
    if (isFunctionResponsePart(part)) {
      const { name, response } = part.functionResponse;
      return [{ text: `[${author}] \`${name}\` returned ${JSON.stringify(response)}` }];
    }
    if ('inlineData' in part) return [{ inlineData: part.inlineData }];
    return 'fileData' in part ? [part] : [];
  });
  return rewritten.length === 0
    ? []
    : [{ role: 'user', parts: [{ text: FOREIGN_PREFIX }, ...rewritten] }];
}
