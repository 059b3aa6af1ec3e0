import { checkOptions } from '../../core/index.ts';
import { AGENT_TOOL_OPTIONS } from '../../agents/internal.ts';
import { agentTool } from '../../agents/index.ts';
import type { AgentBackedTool, AgentToolOptions } from '../../agents/index.ts';
import type { Tool } from '../../tools/index.ts';
import type { BaseAgent } from './base-agent.ts';
import { LlmAgent } from './llm-agent.ts';
import type { CompileContext, CompilableTool } from '../tools/compile-context.ts';

/** The arguments of an agent without an input schema, as ADK declares them. */
const REQUEST_SCHEMA = {
  type: 'object',
  properties: { request: { type: 'string' } },
  required: ['request'],
} as const;

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
    const { agent } = this;
    const compiled = agentTool(await agent.compile(context), {
      parameters: agent.inputSchema ?? REQUEST_SCHEMA,
      ...this.#options,
    });
    const returnsJson = agent instanceof LlmAgent && agent.returnsJson;
    const backed: AgentBackedTool = { ...compiled, returnsJson };
    return backed;
  }
}
