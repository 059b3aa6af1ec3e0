import { checkOptions, optionTable } from '../../core/index.ts';
import type { JsonObject, OptionTable } from '../../core/index.ts';
import { tool } from '../../tools/tool/tool.ts';
import type { Tool, ToolParameters } from '../../tools/index.ts';
import type { Agent } from '../agent/agent.ts';

/**
 * A tool that is an agent. Each call runs in a session of its own, and is part of the invocation that calls: it begins
 * with the caller's state, what it changes is the caller's when it is done, it saves artifacts for the caller, its model
 * calls count, and calls of it that wait are pending calls of the caller's session.
 */
export interface AgentBackedTool extends Tool {
  readonly agent: Agent;
  /** The agent's answer is the caller's: its model is not asked to say it again. */
  readonly skipSummarization: boolean;
}

/** How an agent shows itself to the model that calls it, and how long a call may take. */
export interface AgentToolOptions {
  /** The agent's name unless given. */
  readonly name?: string;
  /** The agent's description unless given. */
  readonly description?: string;
  /** What it is called with; the agent is told that as JSON. A text called `request` unless given. */
  readonly parameters?: ToolParameters;
  /** How long the agent may work in one go, in milliseconds. Waiting for people does not count. Default: 30 minutes. */
  readonly timeoutMs?: number;
  /** The agent's answer is the caller's: its model is not asked to say it again. Default: false. */
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
 * Lets an agent be called as a tool. The model writes a request; what the agent says last is the result. A call that a
 * crash interrupts goes on where its session stands: asking again is the same question, so nothing happens twice.
 */
export function agentTool(agent: Agent, options: AgentToolOptions = {}): AgentBackedTool {
  checkOptions(AGENT_TOOL_OPTIONS, options);
  const base = tool<ToolParameters>({
    name: options.name ?? agent.name,
    description: options.description ?? agent.description,
    parameters: options.parameters ?? requestSchema,
    idempotent: true,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    execute: () => {
      throw new Error('An agent runs as a tool only inside a runtime.');
    },
  });
  return { ...base, agent, skipSummarization: options.skipSummarization ?? false };
}

/** True for a tool whose calls run an agent. Its `execute` is never called: it throws. */
export function isAgentTool(tool: Tool): tool is AgentBackedTool {
  return 'agent' in tool;
}

/** What the model asked for: the words of its request, or all it gave. */
export function toRequestText(args: JsonObject): string {
  const { request, ...rest } = args;
  return typeof request === 'string' && Object.keys(rest).length === 0
    ? request
    : JSON.stringify(args);
}

/** The agents among these tools, and theirs. */
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
