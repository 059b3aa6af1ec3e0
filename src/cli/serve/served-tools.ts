import { omitUndefined } from '../../core/internal.ts';
import { resolve } from 'node:path';
import { makeFolder } from '../../files/internal.ts';
import { parseAllowedHosts } from '../../egress/index.ts';
import type { BuiltInSource, ManagedRuntimeOptions } from '../../managed/index.ts';
import { braveSearch, builtInSource, Environments } from '../../tools/built-in/index.ts';
import { UsageError } from '../command/usage-error.ts';
import type { ServedCall } from './serve-options.ts';
import type { ServedAgents } from './served-agents.ts';

/** The source of tools, and the clean-up of a deleted session's folders. */
export type ServedTools = Required<Pick<ManagedRuntimeOptions, 'builtIns'>> &
  Pick<ManagedRuntimeOptions, 'onDelete'> & {
    /** The names of the tools. Undefined: the module has `builtIns`, so its tools have no list. */
    readonly toolNames: readonly string[] | undefined;
  };

/** What a file exports for the tools of its definitions. */
type FileTools = Pick<ServedAgents, 'tools' | 'builtIns'>;

/** Finds a tool among those of the file, then among those of its `builtIns`, then in `builtInTools`. */
export function addFileTools(
  { tools, builtIns }: FileTools,
  builtInTools: BuiltInSource,
): BuiltInSource {
  return async (name, environment) => {
    const own = tools.filter((tool) => 'name' in tool && tool.name === name);
    if (own.length > 0) return own;
    return (await builtIns?.(name, environment)) ?? builtInTools(name, environment);
  };
}

/**
 * The tools behind the names in definitions: first those of the file, then those of its `builtIns`,
 * then the built-in tools whose services this server has.
 * @throws InvalidInputError for a `--web-host` that is not a host
 * @throws UsageError if the folder of `--sandbox` cannot be created
 */
export function createServedTools(
  { values, cwd, env }: ServedCall,
  served: FileTools,
): ServedTools {
  const { sandbox, 'web-host': hosts } = values;
  parseAllowedHosts(hosts);
  const searchKey = env['BRAVE_API_KEY'] ?? '';
  const enabled = new Set([
    ...(sandbox === undefined ? [] : ['bash', 'filesystem', 'code_execution']),
    ...(hosts.length === 0 ? [] : ['web_fetch']),
    ...(searchKey === '' ? [] : ['web_search']),
  ]);
  const root = resolve(cwd, sandbox ?? '.');
  if (sandbox !== undefined) makeSandbox(root);
  const environments = new Environments({ root });
  const builtInTools = builtInSource({
    environments,
    webFetch: { hosts },
    ...omitUndefined({
      webSearch: searchKey !== '' ? { provider: braveSearch({ apiKey: searchKey }) } : undefined,
    }),
  });
  const builtIns = addFileTools(served, async (name, environment) =>
    enabled.has(name) ? builtInTools(name, environment) : undefined,
  );
  const fileNames = served.tools.flatMap((tool) => ('name' in tool ? tool.name : []));
  const toolNames =
    served.builtIns === undefined
      ? [...new Set([...fileNames, ...enabled, 'bash', 'filesystem'])]
      : undefined;
  return {
    builtIns,
    toolNames,
    ...(sandbox !== undefined && { onDelete: async (session) => environments.remove(session) }),
  };
}

function makeSandbox(folder: string): void {
  try {
    makeFolder(folder, 0o700);
  } catch (error) {
    const problem = error instanceof Error ? error.message : '';
    throw new UsageError(`--sandbox: ${folder} cannot be created: ${problem}`, 'serve');
  }
}
