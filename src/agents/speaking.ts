import type { ConversationItem } from './places.ts';

/** Who speaks. */
export interface Speaking {
  readonly agentName: string;
  /** Set in a session of several agents: there each line of the conversation says whose it is. */
  readonly among?: { readonly branch?: string };
}

/** A line of the conversation, said by this agent. */
export function lineOf({ agentName, among }: Speaking, line: ConversationItem): ConversationItem {
  return among === undefined ? line : { ...line, author: agentName, ...among };
}

/** The branch that the agent's events name. */
export function branchOf({ among }: Speaking): { readonly branch?: string } {
  return among?.branch === undefined ? {} : { branch: among.branch };
}
