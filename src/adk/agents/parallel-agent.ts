import { checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { parallel } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { BASE_AGENT_NAMES, BaseAgent, compileAgents } from './base-agent.ts';
import type { BaseAgentConfig } from './base-agent.ts';
import type { CompileContext } from '../tools/compile-context.ts';
import { toCompositeDefinition } from './to-composite-definition.ts';

/** The options of `ParallelAgent`. */
export const PARALLEL_AGENT_OPTIONS: OptionTable = optionTable<BaseAgentConfig>('ParallelAgent', {
  ...BASE_AGENT_NAMES,
});

/** Runs its agents in parallel. No agent sees the others' messages. It ends when all of them have ended. */
export class ParallelAgent extends BaseAgent {
  constructor(config: BaseAgentConfig) {
    if (new.target === ParallelAgent) checkOptions(PARALLEL_AGENT_OPTIONS, config);
    super(config);
  }

  override async compile(context: CompileContext): Promise<Agent> {
    const subAgents = await compileAgents(this.subAgents, context);
    return parallel({ ...toCompositeDefinition(this, this.config, context), subAgents });
  }
}
