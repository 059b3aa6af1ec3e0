import { checkDefinition } from '../../core/internal.ts';
import { InvalidInputError, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import type { Tool } from '../tool/tool.ts';
import { builtInTools, type BuiltInServices, type BuiltInTool } from './built-in-tools.ts';
import type { EnvironmentConfig, Environments } from './workspace/environments.ts';

/** The environment that a session requests. `selfHosted`: its client runs the tools itself. */
export interface BuiltInEnvironment extends EnvironmentConfig {
  readonly selfHosted?: boolean;
}

/** The services that the built-in tools of all sessions share, and the environments. */
export interface BuiltInSourceOptions extends Omit<BuiltInServices, 'environment'> {
  readonly environments: Environments;
}

const NAMES: ReadonlySet<string> = new Set<BuiltInTool>([
  'bash',
  'filesystem',
  'web_search',
  'web_fetch',
  'code_execution',
]);

/** The options of `builtInSource`. */
export const BUILT_IN_SOURCE_OPTIONS: OptionTable = optionTable<BuiltInSourceOptions>(
  'builtInSource',
  {
    environments: true,
    sandbox: true,
    limits: true,
    unsandboxed: true,
    webFetch: true,
    webSearch: true,
  },
);

/**
 * Resolves the name of a built-in tool for sessions of one environment, for a managed runtime. The
 * tools apply every option of the environment; an option that they cannot apply is rejected here.
 * Returns undefined for an unknown name.
 */
export function builtInSource(
  options: BuiltInSourceOptions,
): (name: string, environment: BuiltInEnvironment) => Promise<readonly Tool[] | undefined> {
  checkDefinition(BUILT_IN_SOURCE_OPTIONS, options);
  const { environments, ...services } = options;
  return async (name, { selfHosted = false, ...requested }) => {
    if (!isBuiltIn(name)) return undefined;
    const config = environments.parse(requested);
    const [field] = Object.keys(config);
    if (selfHosted && field !== undefined) {
      throw new InvalidInputError(
        `environment.${field}`,
        'has no effect: the client of this session runs its tools. Remove it.',
      );
    }
    return builtInTools([name], {
      ...services,
      environment: (session) => environments.open(session, config),
    });
  };
}

function isBuiltIn(name: string): name is BuiltInTool {
  return NAMES.has(name);
}
