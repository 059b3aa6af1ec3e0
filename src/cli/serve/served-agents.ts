import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { decodeJson, isJsonObject } from '../../core/index.ts';
import type { ManagedRuntimeOptions } from '../../managed/index.ts';
import type { Tool, Toolset } from '../../tools/index.ts';
import { AgentModuleError } from '../loading/agent-module-error.ts';
import { importModule } from '../loading/import-module.ts';

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
  if (Array.isArray(agents)) return agents;
  if (agents === undefined)
    throw new AgentModuleError(
      file,
      'no_agent',
      'exports no agents to serve. Export a list of agent definitions:  `export const agents = [{ name: "Greeter", model: "gpt-5" }]`.',
      { found: Object.keys(exported) },
    );
  throw invalidExportError(file, 'agents', 'must be a list of agents', exported);
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
