import { isPetrichorError, nearestName, readMember } from '../../core/internal.ts';
import { MissingServiceError } from '../../managed/index.ts';
import { parseModelRef, UnknownModelError, type ModelEnv } from '../../models/index.ts';
import { modelAccess } from '../../models/reference/model-address-and-key.ts';
import type { ServedDefinition } from './served-agents.ts';

/**
 * Checks that the models in a file have a known provider. Other errors in definitions are found when they are registered.
 * @throws UnknownModelError with the file and the agent
 */
export function assertKnownModels(file: string, definitions: readonly ServedDefinition[]): void {
  for (const definition of definitions) {
    const model = readMember(definition.value, 'model');
    if (typeof model !== 'string') continue;
    try {
      parseModelRef(model);
    } catch (error) {
      if (!(error instanceof UnknownModelError)) throw error;
      throw new UnknownModelError(model, formatAgent(file, definition));
    }
  }
}

/** Returns a warning for each agent whose model has no API key in the environment. It contains no key, and nothing is sent. */
export function listMissingKeys(
  file: string,
  definitions: readonly ServedDefinition[],
  env: ModelEnv,
): readonly string[] {
  const warnings: string[] = [];
  for (const definition of definitions) {
    const variables = findMissingKey(readMember(definition.value, 'model'), env);
    if (variables === undefined) continue;
    warnings.push(
      `${formatAgent(file, definition)}: its model has no API key. Set ${variables.join(' or ')} in the environment of the server.`,
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
  definitions: readonly ServedDefinition[],
  known: readonly string[],
): void {
  for (const definition of definitions) {
    const tools = readMember(definition.value, 'tools');
    if (!Array.isArray(tools)) continue;
    for (const [position, tool] of tools.entries()) {
      const name = readMember(tool, 'name');
      if (readMember(tool, 'type') !== 'builtin' || typeof name !== 'string') continue;
      if (known.includes(name)) continue;
      const field = `${formatAgent(file, definition)}.tools[${position}] ("${name}")`;
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

function formatAgent(file: string, { label, value }: ServedDefinition): string {
  const name = readMember(value, 'name');
  return `${file}: ${label}${typeof name === 'string' ? ` ("${name}")` : ''}`;
}
