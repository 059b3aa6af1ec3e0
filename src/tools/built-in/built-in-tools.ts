import { InvalidInputError } from '../../core/index.ts';
import type { Sandbox, SandboxLimits } from '../sandbox/sandbox.ts';
import type { Tool } from '../tool.ts';
import { bashTool } from './bash-tool.ts';
import { codeExecutionTool } from './code-execution-tool.ts';
import type { CommandOptions } from './command-options.ts';
import type { EnvironmentSource } from './environment.ts';
import { filesystemTools } from './filesystem-tools.ts';
import { webFetchTool, type WebFetchOptions } from './web-fetch-tool.ts';
import { webSearchTool, type WebSearchOptions } from './web-search-tool.ts';

/** What an agent may be given of its runtime. `filesystem` is six tools. */
export type BuiltInTool = 'bash' | 'filesystem' | 'web_search' | 'web_fetch' | 'code_execution';

/** What the built-in tools need. A tool whose need is missing cannot be had. */
export interface BuiltInServices {
  /** For `bash`, `code_execution` and `filesystem`. */
  readonly environment?: EnvironmentSource;
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
  return [...new Set(names)].flatMap((name) => toolsOf(name, services));
}

function toolsOf(name: BuiltInTool, services: BuiltInServices): readonly Tool[] {
  const { webFetch, webSearch, ...rest } = services;
  switch (name) {
    case 'bash':
      return [bashTool(placed(name, rest))];
    case 'code_execution':
      return [codeExecutionTool(placed(name, rest))];
    case 'filesystem':
      return filesystemTools(placed(name, rest));
    case 'web_fetch':
      return [webFetchTool(given(webFetch, 'webFetch', name))];
    case 'web_search':
      return [webSearchTool(given(webSearch, 'webSearch', name))];
    default:
      // What a definition says is not always of this type.
      throw new InvalidInputError('tools', `"${String(name)}" is no built-in tool.`);
  }
}

function placed(name: string, { environment, ...rest }: BuiltInServices): CommandOptions {
  return { ...rest, environment: given(environment, 'environment', name) };
}

function given<T>(service: T | undefined, field: string, name: string): T {
  if (service !== undefined) return service;
  throw new InvalidInputError(field, `is missing: the tool "${name}" needs it.`);
}
