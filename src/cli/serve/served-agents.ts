import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { decodeJson, isJsonObject, UnknownFieldError } from '../../core/index.ts';
import { isPetrichorError, readMember } from '../../core/internal.ts';
import { parseJsonWithSchema } from '../../core/validation/parse-with-schema.ts';
import type { ManagedRuntimeOptions } from '../../managed/index.ts';
import { deriveAgentId } from '../../managed/internal.ts';
import type { Tool, Toolset } from '../../tools/index.ts';
import { agentCreate } from '../../server/internal.ts';
import { AgentModuleError, createCycleError } from '../loading/agent-module-error.ts';
import { describeThrown } from '../loading/describe-thrown.ts';
import { formatExports, formatRejected } from '../loading/format-exports.ts';
import { findExportedAgents } from '../loading/exported-agents.ts';
import type { ExportedAgent, RejectedExport } from '../loading/exported-agents.ts';
import { importModule } from '../loading/import-module.ts';
import { toAgentSource } from '../loading/to-agent-source.ts';

/** A definition as a client would send it. */
export interface ServedDefinition {
  /** Its place in the file, such as `agents[0]`. */
  readonly label: string;
  readonly value: unknown;
}

/** An agent that the program of a file defines. */
export interface ServedCode {
  readonly id: string;
  readonly kind: 'agent' | 'app';
  readonly source: NonNullable<ManagedRuntimeOptions['agents']>[number];
}

/** The agents of a file, and the services that only a module can provide. */
export interface ServedAgents extends Pick<
  ManagedRuntimeOptions,
  'resolver' | 'mcp' | 'skills' | 'builtIns'
> {
  readonly definitions: readonly ServedDefinition[];
  readonly code: readonly ServedCode[];
  /** Exports that are not served, although they may be meant as agents. */
  readonly leftOut: readonly RejectedExport[];
  /** The tools that `{ "type": "builtin", "name": … }` in an agent can name. */
  readonly tools: readonly (Tool | Toolset)[];
}

type ServiceName = 'resolver' | 'mcp' | 'skills' | 'builtIns';

const SERVICES: readonly ServiceName[] = ['resolver', 'mcp', 'skills', 'builtIns'];

/** The exports of a module that are no agents. */
const SERVICE_EXPORTS: ReadonlySet<string> = new Set([...SERVICES, 'tools']);

/** The file of a server that starts without agents. */
export const NO_AGENTS: ServedAgents = { definitions: [], code: [], leftOut: [], tools: [] };

const WHAT_TO_EXPORT =
  'Export what agent({ … }) returns, an ADK App or agent, or a definition as data: ' +
  '`export const agents = [{ name: "Greeter", model: "gpt-5" }]`. See docs/server.md.';

/**
 * Reads a .json file with a list of definitions, or runs a module and takes every agent that it exports: alone or in a
 * list, and whatever made it. A module can also export `tools`, `resolver`, `builtIns`, `mcp` and `skills`.
 * An export that cannot be read, or that has a name and a model and is no definition, is left out with a reason.
 * @throws AgentModuleError if the file is missing, fails, exports a value of the wrong type, exports no agent or two
 *   agents with the same id, or an agent that is its own sub-agent
 */
export async function loadServedAgents(file: string, cwd: string): Promise<ServedAgents> {
  const path = resolve(cwd, file);
  if (file.endsWith('.json')) {
    const agents = readJsonFile(file, path);
    if (!Array.isArray(agents))
      throw invalidExportError(file, 'agents', 'must be a list of agents');
    return {
      ...NO_AGENTS,
      definitions: agents.map((value: unknown, index) => ({ label: `agents[${index}]`, value })),
    };
  }
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
  const { agents, leftOut } = listAgents(file, exported);
  return {
    definitions: agents.flatMap(({ kind, label, value }) =>
      kind === 'definition' ? { label, value } : [],
    ),
    code: await Promise.all(
      agents.flatMap((agent) => (agent.kind === 'definition' ? [] : toServedCode(file, agent))),
    ),
    leftOut,
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

/** The agents that a module exports. A list `agents` may be empty: clients can create agents. */
function listAgents(
  file: string,
  exported: Readonly<Record<string, unknown>>,
): { readonly agents: readonly ExportedAgent[]; readonly leftOut: readonly RejectedExport[] } {
  const found = Object.keys(exported);
  const others = Object.fromEntries(
    Object.entries(exported).filter(([name]) => !SERVICE_EXPORTS.has(name)),
  );
  const { agents: all, unknown, unreadable, cyclic } = findExportedAgents(others);
  const [cycle] = cyclic;
  if (cycle !== undefined) throw createCycleError(file, cycle);
  const [invalid] = unknown;
  const problem = unreadable.find(({ label }) => label === invalid?.label);
  if (problem !== undefined)
    throw new AgentModuleError(
      file,
      'failed',
      `exports ${problem.label}, which ${problem.reason}`,
      {
        found,
      },
    );
  if (invalid !== undefined)
    throw new AgentModuleError(
      file,
      'no_agent',
      `exports ${formatExports({ [invalid.label]: invalid.value })}, which is no agent. ${WHAT_TO_EXPORT}`,
      { found },
    );
  const foreign = all.flatMap((agent) =>
    agent.kind === 'definition' ? findForeignExport(file, agent, others) : [],
  );
  const foreignLabels = new Set(foreign.map(({ label }) => label));
  const agents = all.filter(({ label }) => !foreignLabels.has(label));
  const leftOut = [...unreadable, ...foreign];
  const { agents: listed } = exported;
  if (
    listed !== undefined &&
    !Array.isArray(listed) &&
    !agents.some(({ label }) => label === 'agents')
  )
    throw invalidExportError(
      file,
      'agents',
      `must be a list of agents. ${WHAT_TO_EXPORT}`,
      exported,
    );
  if (agents.length === 0 && !Array.isArray(listed))
    throw new AgentModuleError(
      file,
      'no_agent',
      `exports no agents to serve, but ${formatExports(others)}.${formatRejected(leftOut)} ${WHAT_TO_EXPORT}`,
      { found },
    );
  for (const agent of agents) if (agent.kind === 'definition') assertIsData(file, agent, found);
  assertUniqueIds(file, agents);
  return { agents, leftOut };
}

/**
 * Finds out that an export, which has a name and a model, is something else than a definition: it has a method, or a
 * field that no definition has and that is no misspelling of one. In a list of agents, such a field is an error.
 * @throws AgentModuleError if the export cannot be read
 */
function findForeignExport(
  file: string,
  { label, value }: ServedDefinition,
  exported: Readonly<Record<string, unknown>>,
): readonly RejectedExport[] {
  const isAlone = Object.hasOwn(exported, label);
  const asForeign = (what: string): readonly RejectedExport[] => [
    { label, reason: `has a name and a model, but is no definition of an agent: ${what}` },
  ];
  try {
    const method = isAlone ? findMethod(value) : undefined;
    if (method !== undefined) return asForeign(`it has a method \`${method}\`.`);
    parseJsonWithSchema(agentCreate, value, label);
  } catch (error) {
    if (isAlone && error instanceof UnknownFieldError && error.suggestion === undefined) {
      const isOwnField = !/[.[]/.test(error.field.slice(label.length + 1));
      if (isOwnField) return asForeign(error.message);
    }
    // Reported when it is registered.
    if (isPetrichorError(error)) return [];
    throw new AgentModuleError(
      file,
      'failed',
      `exports ${label}, which cannot be read: ${describeThrown(error)}`,
      { cause: error, found: [label] },
    );
  }
  return [];
}

function findMethod(value: unknown): string | undefined {
  const names = isJsonObject(value) ? Object.keys(value) : [];
  return names.find((name) => typeof readMember(value, name) === 'function');
}

function assertUniqueIds(file: string, agents: readonly ExportedAgent[]): void {
  const labels = new Map<string, string>();
  for (const { name, label } of agents) {
    const id = deriveAgentId(name);
    const earlier = labels.get(id);
    if (earlier !== undefined)
      throw new AgentModuleError(
        file,
        'same_id',
        `exports two agents with the id "${id}": ${earlier} and ${label} ("${name}"). Rename one of them.`,
        { found: [earlier, label] },
      );
    labels.set(id, label);
  }
}

/** Rejects a `tool()` where a definition has data. */
function assertIsData(
  file: string,
  { label, value }: ServedDefinition,
  found: readonly string[],
): void {
  const tools = readMember(value, 'tools');
  if (!Array.isArray(tools)) return;
  for (const [position, tool] of tools.entries()) {
    if (!isTool(tool)) continue;
    throw new AgentModuleError(
      file,
      'no_agent',
      `exports ${label}.tools[${position}], which is a tool(). ` +
        `Export the tool in \`tools\`, and name it with { type: 'builtin', name: '${tool.name}' }.`,
      { found },
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

async function toServedCode(
  file: string,
  agent: Exclude<ExportedAgent, { readonly kind: 'definition' }>,
): Promise<ServedCode> {
  return {
    id: deriveAgentId(agent.name),
    kind: agent.kind === 'agent' ? 'agent' : 'app',
    source: await toAgentSource(file, agent),
  };
}

function invalidExportError(
  file: string,
  name: string,
  what: string,
  exported: Readonly<Record<string, unknown>> = {},
): AgentModuleError {
  return new AgentModuleError(
    file,
    'no_agent',
    `exports ${name}, which ${what}${what.endsWith('.') ? '' : '.'}`,
    {
      found: Object.keys(exported),
    },
  );
}
