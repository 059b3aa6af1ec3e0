import { contentText } from '../../core/index.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import type { ConversationItem } from '../vocabulary/conversation.ts';

/** The text of the last message in this invocation of the agent or one of its sub-agents; empty if there is none. */
export function lastMessageText(
  { agentName, multiAgent }: AgentIdentity,
  lines: readonly ConversationItem[],
  invocationId: string,
): string {
  const branch = multiAgent?.branch ?? agentName;
  const last = lines.findLast(
    (line) =>
      line.invocationId === invocationId &&
      line.author !== undefined &&
      line.content.role === 'model' &&
      `${line.branch ?? ''}.`.startsWith(`${branch}.`) &&
      contentText(line.content) !== '',
  );
  return last === undefined ? '' : contentText(last.content);
}
