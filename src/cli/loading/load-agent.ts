import { resolve } from 'node:path';
import type { Agent } from '../../agents/index.ts';
import { AgentModuleError } from './agent-module-error.ts';
import { importModule } from './import-module.ts';

export interface AgentSelector {
  readonly file: string;
  /** The folder against which a relative `file` is resolved. */
  readonly cwd: string;
  /** The agent to load, if the module exports several. */
  readonly name?: string | undefined;
}

/**
 * Loads the agent that a module exports, by default or by name. This runs the module.
 * @throws AgentModuleError if the module cannot be loaded, or exports no such agent or several
 */
export async function loadAgent({ file, cwd, name }: AgentSelector): Promise<Agent> {
  const exported = await importModule(file, resolve(cwd, file));
  const agents = new Map(
    Object.values(exported)
      .filter(isAgent)
      .map((agent) => [agent.name, agent]),
  );
  const names = [...agents.keys()];
  if (name !== undefined) return findAgentByName(file, agents, name);
  const [agent] = agents.values();
  if (agent === undefined) throw createNoAgentError(file, exported);
  if (agents.size === 1) return agent;
  const sentence = `exports ${agents.size} agents: ${names.join(', ')}. Choose one with --agent NAME.`;
  throw new AgentModuleError(file, 'several_agents', sentence, { found: names });
}

function findAgentByName(file: string, agents: ReadonlyMap<string, Agent>, name: string): Agent {
  const agent = agents.get(name);
  if (agent !== undefined) return agent;
  const found = [...agents.keys()];
  const sentence = `exports no agent "${name}". Its agents are: ${found.join(', ') || 'none'}.`;
  throw new AgentModuleError(file, 'not_found', sentence, { found });
}

function createNoAgentError(
  file: string,
  exported: Readonly<Record<string, unknown>>,
): AgentModuleError {
  const found = Object.keys(exported);
  const listed = Object.entries(exported).map(([name, value]) => `${name} (${getTypeName(value)})`);
  const exports = listed.length === 0 ? 'nothing' : listed.join(', ');
  const sentence = `exports no agent, but ${exports}. Export what agent({ … }) returns.`;
  return new AgentModuleError(file, 'no_agent', sentence, { found });
}

function getTypeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Checks the shape, not the class: the module may have loaded another copy of this package. */
export function isAgent(value: unknown): value is Agent {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    typeof value.name === 'string' &&
    'readStatus' in value &&
    typeof value.readStatus === 'function' &&
    'compiled' in value &&
    typeof value.compiled === 'object'
  );
}
