import { checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { loop } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { BASE_AGENT_NAMES, BaseAgent, compileAgents } from './base-agent.ts';
import type { BaseAgentConfig } from './base-agent.ts';
import type { CompileContext } from '../tools/compile-context.ts';
import { toCompositeDefinition } from './to-composite-definition.ts';

/**
 * What every agent has, and when the loop ends at the latest: a whole number of rounds, 1 to 1,000. ADK's
 * `LoopAgentConfig`.
 */
export interface LoopAgentConfig extends BaseAgentConfig {
  /** How often the agents have their turn at most; 25 unless said. */
  readonly maxIterations?: number;
}

/** The options of `LoopAgent`. */
export const LOOP_AGENT_OPTIONS: OptionTable = optionTable<LoopAgentConfig>('LoopAgent', {
  ...BASE_AGENT_NAMES,
  maxIterations: true,
});

/** Agents one after the other, again and again, until one escalates or the iterations are used up. */
export class LoopAgent extends BaseAgent {
  readonly maxIterations: number | undefined;

  constructor(config: LoopAgentConfig) {
    if (new.target === LoopAgent) checkOptions(LOOP_AGENT_OPTIONS, config);
    super(config);
    this.maxIterations = config.maxIterations;
  }

  override async compile(context: CompileContext): Promise<Agent> {
    const { maxIterations } = this;
    const subAgents = await compileAgents(this.subAgents, context);
    return loop({
      ...toCompositeDefinition(this, this.config, context),
      subAgents,
      ...(maxIterations !== undefined && { maxIterations }),
    });
  }
}
