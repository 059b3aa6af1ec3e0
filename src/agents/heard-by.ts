import { isFunctionCallPart, isFunctionResponsePart, isTextPart } from '../core/index.ts';
import type { Content, Part } from '../core/index.ts';
import type { ConversationItem } from './places.ts';
import type { Speaking } from './speaking.ts';

/**
 * What an agent hears of a conversation of several: users and itself as they are, the others told as context, and of
 * those who speak side by side with it nothing.
 */
export function heardBy(
  { agentName, among }: Speaking,
  conversation: readonly ConversationItem[],
  /** What was made of others' words before: the same words are the same messages. */
  told: WeakMap<Content, readonly Content[]> = new WeakMap(),
): readonly Content[] {
  return conversation
    .filter((item) => reaches(item.branch, among?.branch))
    .flatMap(({ author, content }) => {
      if (author === undefined || author === agentName) return [content];
      const made = told.get(content) ?? toldOf(author, content);
      told.set(content, made);
      return made;
    });
}

/** True when what is said in a branch is heard in another: in it, in the branches that begin there, and where it has ended. */
export function reaches(said: string | undefined, heard: string | undefined): boolean {
  return said === undefined || heard === undefined || `${heard}.`.startsWith(`${said}.`);
}

const TOLD = 'For context:';

/** True for another agent's words, as an agent is told them. */
export function isTold({ role, parts: [first] }: Content): boolean {
  return role === 'user' && first !== undefined && isTextPart(first) && first.text === TOLD;
}

/** Another agent's words, as somebody would tell them. */
function toldOf(author: string, { parts }: Content): readonly Content[] {
  const told = parts.flatMap((part): readonly Part[] => {
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
  return told.length === 0 ? [] : [{ role: 'user', parts: [{ text: TOLD }, ...told] }];
}
