import { InvalidInputError, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { checkDefinition } from '../../core/internal.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { SandboxLimits } from '../sandbox/sandbox-limits.ts';
import type { Tool } from '../tool/tool.ts';
import { bashTool } from './commands/bash-tool.ts';
import { codeExecutionTool } from './commands/code-execution-tool.ts';
import type { CommandOptions } from './commands/command-options.ts';
import type { ToolEnvironmentSource } from './workspace/tool-environment.ts';
import { filesystemTools } from './files/filesystem-tools.ts';
import { webFetchTool, type WebFetchOptions } from './web/web-fetch-tool.ts';
import { webSearchTool, type WebSearchOptions } from './web/web-search-tool.ts';

/** The name of a built-in tool. `filesystem` adds six tools. */
export type BuiltInTool = 'bash' | 'filesystem' | 'web_search' | 'web_fetch' | 'code_execution';

/** The services of the built-in tools. A tool whose service is missing cannot be created. */
export interface BuiltInServices {
  /** Needed by `bash`, `code_execution` and `filesystem`. */
  readonly environment?: ToolEnvironmentSource;
  /** Used by `bash` and `code_execution`. Default: bubblewrap. */
  readonly sandbox?: Sandbox;
  readonly limits?: Partial<SandboxLimits>;
  /**
   * Allows running without the confinement that this system cannot provide: commands then run with
   * the rights of this process. Default: false.
   */
  readonly unsandboxed?: boolean;
  readonly webFetch?: WebFetchOptions;
  readonly webSearch?: WebSearchOptions;
}

/** The options of `builtInTools`. */
export const BUILT_IN_SERVICES: OptionTable = optionTable<BuiltInServices>('builtInTools', {
  environment: true,
  sandbox: true,
  limits: true,
  unsandboxed: true,
  webFetch: true,
  webSearch: true,
});

/**
 * Creates the named built-in tools. A tool that is not named is not available.
 * @throws InvalidInputError for an unknown name, and for a missing service, with its field
 */
export function builtInTools(
  names: readonly BuiltInTool[],
  services: BuiltInServices,
): readonly Tool[] {
  checkDefinition(BUILT_IN_SERVICES, services);
  return [...new Set(names)].flatMap((name) => createTools(name, services));
}

function createTools(name: BuiltInTool, services: BuiltInServices): readonly Tool[] {
  const { webFetch, webSearch, ...rest } = services;
  switch (name) {
    case 'bash':
      return [bashTool(toCommandOptions(name, rest))];
    case 'code_execution':
      return [codeExecutionTool(toCommandOptions(name, rest))];
    case 'filesystem':
      return filesystemTools(toCommandOptions(name, rest));
    case 'web_fetch':
      return [webFetchTool(requireService(webFetch, 'webFetch', name))];
    case 'web_search':
      return [webSearchTool(requireService(webSearch, 'webSearch', name))];
    default:
      // Names from a stored definition are not checked by the type.
      throw new InvalidInputError('tools', `"${String(name)}" is not a built-in tool.`);
  }
}

function toCommandOptions(name: string, { environment, ...rest }: BuiltInServices): CommandOptions {
  return { ...rest, environment: requireService(environment, 'environment', name) };
}

function requireService<T>(service: T | undefined, field: string, name: string): T {
  if (service !== undefined) return service;
  throw new InvalidInputError(field, `is missing: the tool "${name}" needs it.`);
}
