import { isPetrichorError, nearestName, readMember } from '../../core/internal.ts';
import { MissingServiceError } from '../../managed/index.ts';
import { parseModelRef, UnknownModelError, type ModelEnv } from '../../models/index.ts';
import { modelAccess } from '../../models/reference/model-address-and-key.ts';

/**
 * Checks that the models in a file have a known provider. Other errors in definitions are found when they are registered.
 * @throws UnknownModelError with the file and the agent
 */
export function assertKnownModels(file: string, agents: readonly unknown[]): void {
  for (const [index, agent] of agents.entries()) {
    const model = readMember(agent, 'model');
    if (typeof model !== 'string') continue;
    try {
      parseModelRef(model);
    } catch (error) {
      if (!(error instanceof UnknownModelError)) throw error;
      throw new UnknownModelError(model, formatAgent(file, agent, index));
    }
  }
}

/** Returns a warning for each agent whose model has no API key in the environment. It contains no key, and nothing is sent. */
export function listMissingKeys(
  file: string,
  agents: readonly unknown[],
  env: ModelEnv,
): readonly string[] {
  const warnings: string[] = [];
  for (const [index, agent] of agents.entries()) {
    const variables = findMissingKey(readMember(agent, 'model'), env);
    if (variables === undefined) continue;
    warnings.push(
      `${formatAgent(file, agent, index)}: its model has no API key. Set ${variables.join(' or ')} in the environment of the server.`,
    );
  }
  return warnings;
}

function findMissingKey(ref: unknown, env: ModelEnv): readonly string[] | undefined {
  try {
    const { key, needsKey, keyVariables } = modelAccess(parseModelRef(ref), env);
    return needsKey && key === undefined ? keyVariables : undefined;
  } catch (error) {
    // Other problems of a model are reported by its sessions.
    if (isPetrichorError(error)) return undefined;
    throw error;
  }
}

/** What a tool of this package needs, by the name of the tool. */
const NEEDED: ReadonlyMap<string, string> = new Map([
  ['code_execution', 'Start the server with --sandbox FOLDER.'],
  ['web_fetch', 'Start the server with --web-host HOST.'],
  ['web_search', 'Set BRAVE_API_KEY in the environment of the server.'],
]);

/**
 * Checks that the tools that agents name exist.
 * @param known the names of all tools of the server
 * @throws MissingServiceError with the file, the agent and the name
 */
export function assertKnownTools(
  file: string,
  agents: readonly unknown[],
  known: readonly string[],
): void {
  for (const [index, agent] of agents.entries()) {
    const tools = readMember(agent, 'tools');
    if (!Array.isArray(tools)) continue;
    for (const [position, tool] of tools.entries()) {
      const name = readMember(tool, 'name');
      if (readMember(tool, 'type') !== 'builtin' || typeof name !== 'string') continue;
      if (known.includes(name)) continue;
      const field = `${formatAgent(file, agent, index)}.tools[${position}] ("${name}")`;
      throw new MissingServiceError(field, 'builtIns', formatUnknownTool(name, known));
    }
  }
}

function formatUnknownTool(name: string, known: readonly string[]): string {
  const needed = NEEDED.get(name);
  if (needed !== undefined) return `the server has no tool "${name}". ${needed}`;
  const nearest = nearestName(name, known);
  const hint = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
  return `no tool "${name}".${hint} The tools are: ${known.join(', ')}.`;
}

function formatAgent(file: string, agent: unknown, index: number): string {
  const name = readMember(agent, 'name');
  return `${file}: agents[${index}]${typeof name === 'string' ? ` ("${name}")` : ''}`;
}
