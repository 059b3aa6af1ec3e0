import { omitUndefined } from '../../core/internal.ts';
import { checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { loop } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { BASE_AGENT_NAMES, BaseAgent, compileAgents } from './base-agent.ts';
import type { BaseAgentConfig } from './base-agent.ts';
import type { CompileContext } from '../tools/compile-context.ts';
import { toCompositeDefinition } from './to-composite-definition.ts';

/** Options of `LoopAgent`. ADK's `LoopAgentConfig`. */
export interface LoopAgentConfig extends BaseAgentConfig {
  /** Maximum number of rounds, a whole number from 1 to 1,000. Default: 25. */
  readonly maxIterations?: number;
}

/** The options of `LoopAgent`. */
export const LOOP_AGENT_OPTIONS: OptionTable = optionTable<LoopAgentConfig>('LoopAgent', {
  ...BASE_AGENT_NAMES,
  maxIterations: true,
});

/** Runs its agents one after the other, repeatedly, until one escalates or the iterations are used up. */
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
      ...omitUndefined({ maxIterations }),
    });
  }
}
