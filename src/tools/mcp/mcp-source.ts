import { omitUndefined } from '../../core/internal.ts';
import { InvalidInputError, checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import {
  egressFetch,
  egressRule,
  FetchError,
  parseOrigins,
  parseWebUrl,
  type EgressRule,
  type ResolveHost,
} from '../../egress/index.ts';
import type { Toolset } from '../tool/toolset.ts';
import { SHARED_SETTING_NAMES } from './vocabulary/mcp-options.ts';
import type {
  McpHttpServer,
  McpStdioServer,
  McpToolsetSettings,
} from './vocabulary/mcp-options.ts';
import { openMcpToolset } from './open-mcp-toolset.ts';

/** An MCP server in the definition of a managed agent. */
export interface McpServerEntry {
  readonly name: string;
  /** `stdio` or `http`; `sse` is treated as `http`. */
  readonly transport: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly url?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly auto_approve?: readonly string[];
}

/** Settings for all servers of definitions, and the private origins they may use. */
export interface McpSourceOptions extends Omit<McpToolsetSettings, 'name' | 'autoApprove'> {
  /**
   * Origins that may be used without a public address or without TLS, such as
   * `http://127.0.0.1:8931`. A definition may come from a caller of the API, so every other server
   * must have a public address and TLS. Default: none.
   */
  readonly privateOrigins?: readonly string[];
  /** Resolves host names of servers. Default: the resolver of the system. */
  readonly resolve?: ResolveHost;
}

/** The options of `mcpSource`. */
export const MCP_SOURCE_OPTIONS: OptionTable = optionTable<McpSourceOptions>('mcpSource', {
  ...SHARED_SETTING_NAMES,
  privateOrigins: true,
  resolve: true,
});

/**
 * Creates the function that opens the MCP servers of managed agents, each with these settings. An
 * HTTP server must have a public address and TLS, unless `privateOrigins` lists its origin; every
 * request is checked.
 *
 * The function throws `InvalidInputError` for an entry without its command or url, or whose url is
 * rejected, and the errors of `openMcpToolset`.
 */
export function mcpSource(
  options: McpSourceOptions = {},
): (server: McpServerEntry) => Promise<{ tools: Toolset; close: () => Promise<void> }> {
  checkOptions(MCP_SOURCE_OPTIONS, options);
  const { privateOrigins = [], resolve, ...settings } = options;
  const classifyOrigin = parseOrigins(privateOrigins, 'privateOrigins');
  const rule = egressRule({
    isTrusted: (url) => classifyOrigin(url) === 'named',
    ...omitUndefined({ resolve }),
  });
  const fetch = egressFetch(rule);
  return async (server) => {
    await checkUrl(server, rule);
    const { name, auto_approve: autoApprove = [] } = server;
    const tools = await openMcpToolset({
      ...settings,
      name,
      autoApprove,
      ...toServerOptions(server, fetch),
    });
    return { tools, close: async () => tools.close() };
  };
}

/**
 * Rejects a URL that can never be used as an invalid definition.
 * @throws InvalidInputError
 */
async function checkUrl({ name, url }: McpServerEntry, rule: EgressRule): Promise<void> {
  if (url === undefined) return;
  try {
    await rule(parseWebUrl(url));
  } catch (error) {
    // A host name that cannot be resolved now may resolve later.
    if (!(error instanceof FetchError) || error.code === 'fetch_failed') throw error;
    const problem = `of the MCP server "${name}" is rejected: ${error.message} The operator can allow its origin with the option privateOrigins of mcpSource.`;
    throw new InvalidInputError('mcp_servers.url', problem, { cause: error });
  }
}

function toServerOptions(
  { transport, command, args, url, env }: McpServerEntry,
  fetch: typeof globalThis.fetch,
): McpStdioServer | McpHttpServer {
  switch (transport) {
    case 'stdio':
      if (command === undefined) throw missing('command', transport);
      return { command, ...omitUndefined({ args, env }) };
    case 'http':
    case 'sse':
      if (url === undefined) throw missing('url', transport);
      return { url, fetch };
    default:
      throw new InvalidInputError('transport', `must be "stdio" or "http"; it is "${transport}".`);
  }
}

function missing(field: string, transport: string): InvalidInputError {
  return new InvalidInputError(field, `is missing: a server over ${transport} needs one.`);
}
