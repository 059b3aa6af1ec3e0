import { agentTool } from '../../agents/index.ts';
import type { Agent, AgentBackedTool } from '../../agents/index.ts';
import type { ManagedAgentDef } from '../interface/agent-def.ts';

/** An agent that another agent may call, with its definition. */
export interface SubAgent {
  readonly definition: ManagedAgentDef;
  readonly agent: Agent;
}

/** Creates a tool for each agent. Each call runs in a new session. */
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
