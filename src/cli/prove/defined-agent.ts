import { tmpdir } from 'node:os';
import type { Agent } from '../../agents/index.ts';
import { openManagedRuntime } from '../../managed/index.ts';
import { deriveAgentId } from '../../managed/internal.ts';
import { ScriptedModel } from '../../models/index.ts';
import { registerAgents } from '../../server/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { builtInSource, Environments } from '../../tools/built-in/index.ts';
import { DEFAULT_WORKSPACE, listModelOrigins } from '../serve/open-served-runtime.ts';
import { loadServedAgents } from '../serve/served-agents.ts';
import { addFileTools } from '../serve/served-tools.ts';

/** The definitions of a `.json` file. @throws AgentModuleError if it cannot be read */
export async function loadDefinitions(file: string, cwd: string): Promise<readonly unknown[]> {
  const { definitions } = await loadServedAgents(file, cwd);
  return definitions.map(({ value }) => value);
}

/**
 * Compiles a definition that a file exports, with the tools that the file exports and the built-in ones. No model is
 * resolved and no tool runs.
 * @throws AgentModuleError if the file cannot be served; InvalidInputError for an invalid definition; MissingServiceError
 * for a tool, a skill or an MCP server that the file does not provide
 */
export async function compileDefinedAgent(file: string, cwd: string, name: string): Promise<Agent> {
  const served = await loadServedAgents(file, cwd);
  const { definitions, mcp, skills } = served;
  const builtInTools = builtInSource({
    environments: new Environments({ root: tmpdir() }),
    webFetch: { hosts: ['*'] },
    webSearch: { provider: { name: 'none', search: async () => [] } },
  });
  const store = new MemoryStore();
  await using runtime = await openManagedRuntime({
    store,
    resolver: async () => new ScriptedModel([]),
    modelOrigins: listModelOrigins(definitions),
    builtIns: addFileTools(served, builtInTools),
    ...(mcp !== undefined && { mcp }),
    ...(skills !== undefined && { skills }),
  });
  await registerAgents(
    { runtime, store },
    DEFAULT_WORKSPACE,
    definitions.map(({ value }) => value),
    { labels: definitions.map(({ label }) => label) },
  );
  return runtime.loadAgent(deriveAgentId(name));
}
