import { omitUndefined } from '../../core/internal.ts';
import { checkOptions } from '../../core/index.ts';
import { AGENT_TOOL_OPTIONS } from '../../agents/internal.ts';
import { agentTool } from '../../agents/index.ts';
import type { AgentToolOptions } from '../../agents/index.ts';
import type { Tool } from '../../tools/index.ts';
import type { BaseAgent } from './base-agent.ts';
import type { CompileContext, CompilableTool } from '../tools/compile-context.ts';

/** An agent as a tool. Each call runs in a new session. */
export class AgentTool implements CompilableTool {
  readonly name: string;
  readonly agent: BaseAgent;
  readonly #options: AgentToolOptions;

  /** @throws UnknownFieldError */
  constructor({ agent, ...options }: { readonly agent: BaseAgent } & AgentToolOptions) {
    checkOptions(AGENT_TOOL_OPTIONS, options);
    this.agent = agent;
    this.name = options.name ?? agent.name;
    this.#options = options;
  }

  async compileTool(context: CompileContext): Promise<Tool> {
    const { inputSchema } = this.agent;
    return agentTool(await this.agent.compile(context), {
      ...omitUndefined({ parameters: inputSchema }),
      ...this.#options,
    });
  }
}
