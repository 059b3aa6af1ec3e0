import type { ConversationItem } from './conversation.ts';

/** Who speaks. */
export interface AgentIdentity {
  readonly agentName: string;
  /** Set in a session of several agents: there each line of the conversation says whose it is. */
  readonly multiAgent?: { readonly branch?: string };
}

/** A line of the conversation, said by this agent. */
export function toConversationItem(
  { agentName, multiAgent }: AgentIdentity,
  item: ConversationItem,
): ConversationItem {
  return multiAgent === undefined ? item : { ...item, author: agentName, ...multiAgent };
}

/** The branch that the agent's events name. */
export function branchField({ multiAgent }: AgentIdentity): { readonly branch?: string } {
  return multiAgent?.branch === undefined ? {} : { branch: multiAgent.branch };
}
