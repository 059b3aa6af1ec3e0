import { omitUndefined } from '../../core/internal.ts';
import type { JsonObject, ToolOrigin } from '../../core/index.ts';
import type { Tool, ToolCrashPolicy } from '../../tools/index.ts';
import type { Agent, AgentRole } from './agent.ts';

/** A tool of an agent, as data. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
  /** Whether a person must approve a call. `by_arguments`: the tool decides for each call. */
  readonly approval: 'never' | 'always' | 'by_arguments';
  /** Someone outside answers its calls. */
  readonly external: boolean;
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  readonly longRunning: boolean;
  /** The time limit of one attempt, in milliseconds. */
  readonly timeoutMs: number;
  readonly onCrash: ToolCrashPolicy;
  /** Where it comes from, if that is not the agent's own code. */
  readonly origin?: ToolOrigin;
}

/** An agent as data: what it is, which models and tools it uses, and the hash of its net. */
export interface AgentDescription {
  readonly name: string;
  readonly description: string;
  readonly kind: AgentRole['kind'];
  /** The names of its models: the first is used unless it fails. */
  readonly models: readonly string[];
  /** Its instruction, if that is a text. */
  readonly instruction?: string;
  readonly tools: readonly ToolDescription[];
  /** Agents that run in the same session. */
  readonly subAgents: readonly AgentDescription[];
  /** The names of the agents that it calls as tools. Each call runs in a session of its own. */
  readonly calledAgents: readonly string[];
  readonly netHash: string;
}

/** Describes an agent. Tools of toolsets are those that the toolset has now. */
export function describeAgent(agent: Agent): AgentDescription {
  const { role } = agent;
  return {
    name: agent.name,
    description: agent.description,
    kind: role.kind,
    models: role.models ?? [],
    ...omitUndefined({ instruction: role.instructionText }),
    tools: [...role.tools.values()].map(describeTool),
    subAgents: role.subAgents.map(describeAgent),
    calledAgents: [...agent.children.keys()],
    netHash: agent.compiled.hash,
  };
}

function describeTool(tool: Tool): ToolDescription {
  const { needsApproval } = tool;
  return {
    name: tool.name,
    description: tool.description,
    parameters: tool.declaration.parameters,
    approval:
      typeof needsApproval === 'function' ? 'by_arguments' : needsApproval ? 'always' : 'never',
    external: tool.external,
    readOnly: tool.readOnly,
    idempotent: tool.idempotent,
    longRunning: tool.longRunning,
    timeoutMs: tool.timeoutMs,
    onCrash: tool.onCrash,
    ...omitUndefined({ origin: tool.origin }),
  };
}
