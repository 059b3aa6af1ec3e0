import { InvalidInputError } from '../../core/index.ts';
import type { Sandbox, SandboxLimits } from '../sandbox/sandbox.ts';
import type { Tool } from '../tool/tool.ts';
import { bashTool } from './commands/bash-tool.ts';
import { codeExecutionTool } from './commands/code-execution-tool.ts';
import type { CommandOptions } from './commands/command-options.ts';
import type { ToolEnvironmentSource } from './workspace/tool-environment.ts';
import { filesystemTools } from './files/filesystem-tools.ts';
import { webFetchTool, type WebFetchOptions } from './web/web-fetch-tool.ts';
import { webSearchTool, type WebSearchOptions } from './web/web-search-tool.ts';

/** What an agent may be given of its runtime. `filesystem` is six tools. */
export type BuiltInTool = 'bash' | 'filesystem' | 'web_search' | 'web_fetch' | 'code_execution';

/** What the built-in tools need. A tool whose need is missing cannot be had. */
export interface BuiltInServices {
  /** For `bash`, `code_execution` and `filesystem`. */
  readonly environment?: ToolEnvironmentSource;
  /** For `bash` and `code_execution`; bubblewrap unless said. */
  readonly sandbox?: Sandbox;
  readonly limits?: Partial<SandboxLimits>;
  /** Goes without what this system cannot hold off: commands run as this process. */
  readonly unsandboxed?: boolean;
  readonly webFetch?: WebFetchOptions;
  readonly webSearch?: WebSearchOptions;
}

/**
 * The built-in tools that are asked for, and no other: each is off until it is named here.
 * @throws InvalidInputError for a name that is not known, and for a service that is missing, by its field.
 */
export function builtInTools(
  names: readonly BuiltInTool[],
  services: BuiltInServices,
): readonly Tool[] {
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
      // What a definition says is not always of this type.
      throw new InvalidInputError('tools', `"${String(name)}" is no built-in tool.`);
  }
}

function toCommandOptions(name: string, { environment, ...rest }: BuiltInServices): CommandOptions {
  return { ...rest, environment: requireService(environment, 'environment', name) };
}

function requireService<T>(service: T | undefined, field: string, name: string): T {
  if (service !== undefined) return service;
  throw new InvalidInputError(field, `is missing: the tool "${name}" needs it.`);
}
