import type { LoopDefinition } from '../agents/index.ts';
import type { BaseAgent, BaseAgentConfig } from './base-agent.ts';
import type { Compilation } from './compilation.ts';
import { netCallbacks } from './net-callbacks.ts';

/** What an agent that is made of others is told of itself. */
export function flowOf(
  agent: BaseAgent,
  config: BaseAgentConfig,
  compilation: Compilation,
): Omit<LoopDefinition, 'subAgents'> {
  const { name, description = '' } = config;
  const nameOnly = (tool: string): { name: string; description: string } => ({
    name: tool,
    description: '',
  });
  const { beforeAgent, afterAgent } = netCallbacks(agent, config, nameOnly, compilation);
  return {
    name,
    description,
    callbacks: {
      ...(beforeAgent !== undefined && { beforeAgent }),
      ...(afterAgent !== undefined && { afterAgent }),
    },
  };
}
