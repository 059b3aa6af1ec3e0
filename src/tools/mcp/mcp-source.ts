import { InvalidInputError } from '../../core/index.ts';
import type { Toolset } from '../toolset.ts';
import type { McpAddress, McpProgram, McpToolsetSettings } from './mcp-options.ts';
import { openMcpToolset } from './open-mcp-toolset.ts';

/** A server as the definition of a managed agent names it. */
export interface McpServerEntry {
  readonly name: string;
  /** `stdio`, or `http`; `sse` is read as `http`. */
  readonly transport: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly url?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly auto_approve?: readonly string[];
}

/**
 * Opens the servers that definitions of managed agents name, each with these settings.
 * What it returns throws InvalidInputError for an entry that lacks its command or its url, and what `openMcpToolset` throws.
 */
export function mcpSource(
  settings: Omit<McpToolsetSettings, 'name' | 'autoApprove'> = {},
): (server: McpServerEntry) => Promise<{ tools: Toolset; close: () => Promise<void> }> {
  return async (server) => {
    const { name, auto_approve: autoApprove = [] } = server;
    const tools = await openMcpToolset({ ...settings, name, autoApprove, ...placeOf(server) });
    return { tools, close: async () => tools.close() };
  };
}

function placeOf({ transport, command, args, url, env }: McpServerEntry): McpProgram | McpAddress {
  switch (transport) {
    case 'stdio':
      if (command === undefined) throw missing('command', transport);
      return { command, ...(args !== undefined && { args }), ...(env !== undefined && { env }) };
    case 'http':
    case 'sse':
      if (url === undefined) throw missing('url', transport);
      return { url };
    default:
      throw new InvalidInputError('transport', `must be "stdio" or "http"; it is "${transport}".`);
  }
}

function missing(field: string, transport: string): InvalidInputError {
  return new InvalidInputError(field, `is missing: a server over ${transport} needs one.`);
}
