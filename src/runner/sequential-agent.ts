import { checkOptions, optionTable } from '../core/index.ts';
import type { OptionTable } from '../core/index.ts';
import { sequential } from '../agents/index.ts';
import type { Agent } from '../agents/index.ts';
import { BASE_AGENT_NAMES, BaseAgent, compiled } from './base-agent.ts';
import type { BaseAgentConfig } from './base-agent.ts';
import type { Compilation } from './compilation.ts';
import { flowOf } from './flow-of.ts';

/** The options of `SequentialAgent`. */
export const SEQUENTIAL_AGENT_OPTIONS: OptionTable = optionTable<BaseAgentConfig>(
  'SequentialAgent',
  { ...BASE_AGENT_NAMES },
);

/** Agents one after the other, each hearing what those before it said. */
export class SequentialAgent extends BaseAgent {
  constructor(config: BaseAgentConfig) {
    if (new.target === SequentialAgent) checkOptions(SEQUENTIAL_AGENT_OPTIONS, config);
    super(config);
  }

  override async compile(compilation: Compilation): Promise<Agent> {
    const subAgents = await compiled(this.subAgents, compilation);
    return sequential({ ...flowOf(this, this.config, compilation), subAgents });
  }
}
