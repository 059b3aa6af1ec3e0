import { checkOptions, optionTable } from '../../core/index.ts';
import type { JsonObject, OptionTable } from '../../core/index.ts';
import { tool } from '../../tools/internal.ts';
import type { Tool, ToolParameters } from '../../tools/index.ts';
import type { Agent } from '../agent/agent.ts';
import { checkAgent } from '../agent/check-agents.ts';

/**
 * A tool that is an agent. Each call runs in a child session and is part of the caller's invocation: the agent begins
 * with the caller's state, its state changes are applied to the caller's state when it is done, its artifacts are saved
 * for the caller, its model calls count for the caller's limits, and its waiting calls are pending calls of the caller's
 * session.
 */
export interface AgentBackedTool extends Tool {
  readonly agent: Agent;
  /** True: the agent's answer ends the caller's turn; the caller's model is not called to summarize it. */
  readonly skipSummarization: boolean;
  /** True: the agent answers with JSON, whose value is the result. Default: the result is the text. */
  readonly returnsJson?: boolean;
}

/** The declaration of an agent as a tool, and the limits of a call. */
export interface AgentToolOptions {
  /** Default: the agent's name. */
  readonly name?: string;
  /** Default: the agent's description. */
  readonly description?: string;
  /** The schema of the call's arguments, which the agent gets as JSON. Default: one text argument `request`. */
  readonly parameters?: ToolParameters;
  /** How long the agent may work without a wait, in milliseconds. Waiting for people does not count. Default: 30 minutes. */
  readonly timeoutMs?: number;
  /** True: the agent's answer ends the caller's turn; the caller's model is not called to summarize it. Default: false. */
  readonly skipSummarization?: boolean;
}

/** The options of `agentTool`. */
export const AGENT_TOOL_OPTIONS: OptionTable = optionTable<AgentToolOptions>('agentTool', {
  skipSummarization: true,
  name: true,
  description: true,
  parameters: true,
  timeoutMs: true,
});

const DEFAULT_TIMEOUT_MS = 1_800_000;

/**
 * Makes a tool that calls an agent. The model writes a request; the agent's last message is the result. A call that is
 * interrupted by a crash resumes in its child session: a repeated request is the same message, so no work is done twice.
 * @throws UnknownFieldError for an unknown option
 * @throws InvalidInputError for a value that is not an agent
 */
export function agentTool(agent: Agent, options: AgentToolOptions = {}): AgentBackedTool {
  checkOptions(AGENT_TOOL_OPTIONS, options);
  checkAgent('agent', agent);
  const base = tool<ToolParameters>({
    name: options.name ?? agent.name,
    description: options.description ?? agent.description,
    parameters: options.parameters ?? requestSchema,
    idempotent: true,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    execute: () => {
      throw new Error(
        'An agent runs as a tool only inside a runtime. Run the caller in a runtime.',
      );
    },
  });
  return { ...base, agent, skipSummarization: options.skipSummarization ?? false };
}

/** True for a tool whose calls run an agent. Its `execute` is never called: it throws. */
export function isAgentTool(tool: Tool): tool is AgentBackedTool {
  return 'agent' in tool;
}

/** The message for the called agent: the text of `request` if that is the only argument, else all arguments as JSON. */
export function toRequestText(args: JsonObject): string {
  const { request, ...rest } = args;
  return typeof request === 'string' && Object.keys(rest).length === 0
    ? request
    : JSON.stringify(args);
}

/** The agents among these tools and, recursively, the agents that those call; by name. */
export function collectChildAgents(tools: Iterable<Tool>): ReadonlyMap<string, Agent> {
  const children = new Map<string, Agent>();
  for (const one of tools) {
    if (!isAgentTool(one)) continue;
    children.set(one.agent.name, one.agent);
    for (const [name, agent] of one.agent.children) children.set(name, agent);
  }
  return children;
}

const requestSchema = {
  type: 'object',
  properties: {
    request: { type: 'string', description: 'What the agent is to do, with all it needs to know.' },
  },
  required: ['request'],
  additionalProperties: false,
} as const;
