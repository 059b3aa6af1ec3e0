import type { ConversationItem } from './conversation.ts';

/** The author of an agent's messages and events. */
export interface AgentIdentity {
  readonly agentName: string;
  /** Set in a session of several agents, where each conversation item has an author. */
  readonly multiAgent?: { readonly branch?: string };
}

/** The conversation item, with this agent as its author in a session of several agents. */
export function toConversationItem(
  { agentName, multiAgent }: AgentIdentity,
  item: ConversationItem,
): ConversationItem {
  return multiAgent === undefined ? item : { ...item, author: agentName, ...multiAgent };
}

/** The `branch` member of the agent's events, if it runs in a branch. */
export function branchField({ multiAgent }: AgentIdentity): { readonly branch?: string } {
  return multiAgent?.branch === undefined ? {} : { branch: multiAgent.branch };
}

/** The branch of a sub-agent or node that its parent runs beside others. `outer` is the branch of the parent. */
export function toBranch(parent: string, name: string, outer: string | undefined): string {
  return [...(outer === undefined ? [] : [outer]), parent, name].join('.');
}
