import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { decodeJson, isJsonObject } from '../../core/index.ts';
import { readMember } from '../../core/internal.ts';
import type { ManagedRuntimeOptions } from '../../managed/index.ts';
import type { Tool, Toolset } from '../../tools/index.ts';
import { AgentModuleError } from '../loading/agent-module-error.ts';
import { importModule } from '../loading/import-module.ts';
import { isAgent } from '../loading/load-agent.ts';

/** The agents of a file, and the services that only a module can provide. */
export interface ServedAgents extends Pick<
  ManagedRuntimeOptions,
  'resolver' | 'mcp' | 'skills' | 'builtIns'
> {
  /** Agent definitions as a client would send them. */
  readonly agents: readonly unknown[];
  /** The tools that `{ "type": "builtin", "name": … }` in an agent can name. */
  readonly tools: readonly (Tool | Toolset)[];
}

type ServiceName = 'resolver' | 'mcp' | 'skills' | 'builtIns';

const SERVICES: readonly ServiceName[] = ['resolver', 'mcp', 'skills', 'builtIns'];

/**
 * Reads a .json file with a list of agents, or runs a module that exports `agents` and optionally
 * `tools`, `resolver`, `builtIns`, `mcp` and `skills`.
 * @throws AgentModuleError if the file is missing, fails, or exports a value of the wrong type
 */
export async function loadServedAgents(file: string, cwd: string): Promise<ServedAgents> {
  const path = resolve(cwd, file);
  if (file.endsWith('.json'))
    return { agents: parseAgents(file, readJsonFile(file, path)), tools: [] };
  const exported = await importModule(file, path);
  const tools = exported['tools'] ?? [];
  if (!Array.isArray(tools))
    throw invalidExportError(file, 'tools', 'must be a list of tools', exported);
  const services: Partial<Record<ServiceName, unknown>> = {};
  for (const name of SERVICES) {
    const service = exported[name];
    if (service === undefined) continue;
    if (typeof service !== 'function')
      throw invalidExportError(file, name, 'must be a function', exported);
    services[name] = service;
  }
  return {
    agents: parseAgents(file, exported['agents'], exported),
    tools: tools as readonly (Tool | Toolset)[],
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- functions; their results are checked where they are used
    ...(services as Pick<ManagedRuntimeOptions, ServiceName>),
  };
}

function readJsonFile(file: string, path: string): unknown {
  if (!existsSync(path))
    throw new AgentModuleError(file, 'missing', 'does not exist. Check the path.');
  try {
    const read = decodeJson(readFileSync(path, 'utf8'), file);
    return isJsonObject(read) ? (read['agents'] ?? [read]) : read;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new AgentModuleError(file, 'failed', `could not be read: ${reason}`, { cause: error });
  }
}

function parseAgents(
  file: string,
  agents: unknown,
  exported: Readonly<Record<string, unknown>> = {},
): readonly unknown[] {
  if (Array.isArray(agents)) {
    for (const [index, agent] of agents.entries()) assertIsData(file, agent, index, exported);
    return agents;
  }
  if (agents === undefined)
    throw new AgentModuleError(
      file,
      'no_agent',
      Object.values(exported).some(isAgent)
        ? `exports an agent(), but no agents to serve. ${AS_DATA}`
        : 'exports no agents to serve. Export a list of agent definitions: `export const agents = [{ name: "Greeter", model: "gpt-5" }]`.',
      { found: Object.keys(exported) },
    );
  throw invalidExportError(file, 'agents', 'must be a list of agents', exported);
}

const AS_DATA =
  'A served agent is a definition as data: `export const agents = [{ name: "Greeter", model: "gpt-5" }]`. See docs/server.md.';

/** Rejects an `agent()` or a `tool()` where a definition has data. */
function assertIsData(
  file: string,
  agent: unknown,
  index: number,
  exported: Readonly<Record<string, unknown>>,
): void {
  const invalid = (sentence: string): AgentModuleError =>
    new AgentModuleError(file, 'no_agent', sentence, { found: Object.keys(exported) });
  if (isAgent(agent)) throw invalid(`exports agents[${index}], which is an agent(). ${AS_DATA}`);
  const tools = readMember(agent, 'tools');
  if (!Array.isArray(tools)) return;
  for (const [position, tool] of tools.entries()) {
    if (!isTool(tool)) continue;
    throw invalid(
      `exports agents[${index}].tools[${position}], which is a tool(). ` +
        `Export the tool in \`tools\`, and name it with { type: 'builtin', name: '${tool.name}' }.`,
    );
  }
}

/** True for what `tool()` or `toolset()` returns, also of another copy of this package. */
function isTool(value: unknown): value is { readonly name: string } {
  const isCallable = (name: string): boolean => typeof readMember(value, name) === 'function';
  return (
    typeof readMember(value, 'name') === 'string' &&
    ((isCallable('parse') && isCallable('execute')) || isCallable('tools'))
  );
}

function invalidExportError(
  file: string,
  name: string,
  what: string,
  exported: Readonly<Record<string, unknown>>,
): AgentModuleError {
  return new AgentModuleError(file, 'no_agent', `exports ${name}, which ${what}.`, {
    found: Object.keys(exported),
  });
}
