import { checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { sequential } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { BASE_AGENT_NAMES, BaseAgent, compileAgents } from './base-agent.ts';
import type { BaseAgentConfig } from './base-agent.ts';
import { linkCalled } from '../../live/internal.ts';
import type { CompileContext } from '../tools/compile-context.ts';
import { toCompositeDefinition } from './to-composite-definition.ts';

/** The options of `SequentialAgent`. */
export const SEQUENTIAL_AGENT_OPTIONS: OptionTable = optionTable<BaseAgentConfig>(
  'SequentialAgent',
  { ...BASE_AGENT_NAMES },
);

/** Runs its agents one after the other. Each agent sees the messages of those before it. */
export class SequentialAgent extends BaseAgent {
  constructor(config: BaseAgentConfig) {
    if (new.target === SequentialAgent) checkOptions(SEQUENTIAL_AGENT_OPTIONS, config);
    super(config);
  }

  override async compile(context: CompileContext): Promise<Agent> {
    const subAgents = await compileAgents(this.subAgents, { ...context, isLiveStage: true });
    const isLive = this.subAgents.some(({ name }) => context.live.has(name));
    return sequential({
      ...toCompositeDefinition(this, this.config, context),
      subAgents,
      ...(isLive && { conversationPlaces: [linkCalled] }),
    });
  }
}
