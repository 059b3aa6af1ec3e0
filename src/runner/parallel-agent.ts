import { parallel } from '../agents/index.ts';
import type { Agent } from '../agents/index.ts';
import { BaseAgent, compiled } from './base-agent.ts';
import type { Compilation } from './compilation.ts';
import { flowOf } from './flow-of.ts';

/** Agents side by side, none hearing the others; it is done when all are. */
export class ParallelAgent extends BaseAgent {
  override async compile(compilation: Compilation): Promise<Agent> {
    const subAgents = await compiled(this.subAgents, compilation);
    return parallel({ ...flowOf(this, this.config, compilation), subAgents });
  }
}
