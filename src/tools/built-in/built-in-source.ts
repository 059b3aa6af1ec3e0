import { InvalidInputError } from '../../core/index.ts';
import type { Tool } from '../tool/tool.ts';
import { builtInTools, type BuiltInServices, type BuiltInTool } from './built-in-tools.ts';
import type { EnvironmentConfig, Environments } from './workspace/environments.ts';

/** What a session asks for, and whether its client runs the tools itself. */
export interface BuiltInEnvironment extends EnvironmentConfig {
  readonly selfHosted?: boolean;
}

/** What the built-in tools of all sessions share, and what makes the environment of each. */
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

/**
 * The built-in tools as a managed runtime asks for them: by the name of one, for sessions of one environment. What the
 * environment asks for is honoured by the tools, or refused when they are made. Undefined for a name that is not known.
 */
export function builtInSource({
  environments,
  ...services
}: BuiltInSourceOptions): (
  name: string,
  environment: BuiltInEnvironment,
) => Promise<readonly Tool[] | undefined> {
  return async (name, { selfHosted = false, ...requested }) => {
    if (!isBuiltIn(name)) return undefined;
    const config = environments.parse(requested);
    const [field] = Object.keys(config);
    if (selfHosted && field !== undefined) {
      throw new InvalidInputError(
        `environment.${field}`,
        'changes nothing: the client runs the tools of this session. Leave it out.',
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
