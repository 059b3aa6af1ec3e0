import { checkOptions, optionTable } from '../core/index.ts';
import type { OptionTable } from '../core/index.ts';
import { parallel } from '../agents/index.ts';
import type { Agent } from '../agents/index.ts';
import { BASE_AGENT_NAMES, BaseAgent, compiled } from './base-agent.ts';
import type { BaseAgentConfig } from './base-agent.ts';
import type { Compilation } from './compilation.ts';
import { flowOf } from './flow-of.ts';

/** The options of `ParallelAgent`. */
export const PARALLEL_AGENT_OPTIONS: OptionTable = optionTable<BaseAgentConfig>('ParallelAgent', {
  ...BASE_AGENT_NAMES,
});

/** Agents side by side, none hearing the others; it is done when all are. */
export class ParallelAgent extends BaseAgent {
  constructor(config: BaseAgentConfig) {
    if (new.target === ParallelAgent) checkOptions(PARALLEL_AGENT_OPTIONS, config);
    super(config);
  }

  override async compile(compilation: Compilation): Promise<Agent> {
    const subAgents = await compiled(this.subAgents, compilation);
    return parallel({ ...flowOf(this, this.config, compilation), subAgents });
  }
}
