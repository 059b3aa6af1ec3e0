import { sequential } from '../agents/index.ts';
import type { Agent } from '../agents/index.ts';
import { BaseAgent, compiled } from './base-agent.ts';
import type { Compilation } from './compilation.ts';
import { flowOf } from './flow-of.ts';

/** Agents one after the other, each hearing what those before it said. */
export class SequentialAgent extends BaseAgent {
  override async compile(compilation: Compilation): Promise<Agent> {
    const subAgents = await compiled(this.subAgents, compilation);
    return sequential({ ...flowOf(this, this.config, compilation), subAgents });
  }
}
