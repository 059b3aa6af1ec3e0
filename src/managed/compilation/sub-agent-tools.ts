import { agentTool } from '../../agents/index.ts';
import type { Agent, AgentBackedTool } from '../../agents/index.ts';
import type { ManagedAgentDef } from '../interface/agent-def.ts';

/** An agent that another one may call, with what it is made of. */
export interface SubAgent {
  readonly definition: ManagedAgentDef;
  readonly agent: Agent;
}

/** The agents as tools of the one that calls them: each call is a session of its own. */
export function subAgentTools(
  subAgents: readonly SubAgent[],
  toToolName: (name: string) => string,
): readonly AgentBackedTool[] {
  return subAgents.map(({ definition: { name, description }, agent }) =>
    agentTool(agent, {
      name: toToolName(name),
      description: description ?? `Asks the agent ${name} and gives its answer.`,
    }),
  );
}
