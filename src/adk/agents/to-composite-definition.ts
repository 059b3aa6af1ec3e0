import { omitUndefined } from '../../core/internal.ts';
import type { LoopDefinition } from '../../agents/index.ts';
import type { BaseAgent, BaseAgentConfig } from './base-agent.ts';
import type { CompileContext } from '../tools/compile-context.ts';
import { toNetCallbacks, toToolInfo } from './to-net-callbacks.ts';

/** The common definition of an agent that is composed of others. */
export function toCompositeDefinition(
  agent: BaseAgent,
  config: BaseAgentConfig,
  context: CompileContext,
): Omit<LoopDefinition, 'subAgents'> {
  const { name, description = '' } = config;
  const { beforeAgent, afterAgent } = toNetCallbacks(agent, config, toToolInfo, context);
  return {
    name,
    description,
    callbacks: omitUndefined({ beforeAgent, afterAgent }),
  };
}
