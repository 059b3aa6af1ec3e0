import { InvalidInputError } from '../../core/index.ts';
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
import type {
  McpHttpServer,
  McpStdioServer,
  McpToolsetSettings,
} from './vocabulary/mcp-options.ts';
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

/** How the servers of definitions are treated, and which of them may be inside. */
export interface McpSourceOptions extends Omit<McpToolsetSettings, 'name' | 'autoApprove'> {
  /**
   * Origins that are reached although they have no public address or no TLS: `http://127.0.0.1:8931`. A definition may
   * come from a caller of the API, so every other server must be at a public address, with TLS. Default: none.
   */
  readonly privateOrigins?: readonly string[];
  /** Resolves the names of servers. Default: the system's resolver. */
  readonly resolve?: ResolveHost;
}

/**
 * Opens the servers that definitions of managed agents name, each with these settings. A server over HTTP is asked at a
 * public address with TLS, unless `privateOrigins` lists its origin; each request is judged.
 * What it returns throws InvalidInputError for an entry that lacks its command or its url or whose url is refused, and what `openMcpToolset` throws.
 */
export function mcpSource({ privateOrigins = [], resolve, ...settings }: McpSourceOptions = {}): (
  server: McpServerEntry,
) => Promise<{ tools: Toolset; close: () => Promise<void> }> {
  const classifyOrigin = parseOrigins(privateOrigins, 'privateOrigins');
  const rule = egressRule({
    isTrusted: (url) => classifyOrigin(url) === 'named',
    ...(resolve !== undefined && { resolve }),
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

/** What will never be asked is refused as what it is: a wrong definition. @throws InvalidInputError */
async function checkUrl({ name, url }: McpServerEntry, rule: EgressRule): Promise<void> {
  if (url === undefined) return;
  try {
    await rule(parseWebUrl(url));
  } catch (error) {
    // Who is not found may be found later.
    if (!(error instanceof FetchError) || error.code === 'fetch_failed') throw error;
    const problem = `of the MCP server "${name}" is refused: ${error.message} The operator of this server can list its origin: privateOrigins of mcpSource.`;
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
      return { command, ...(args !== undefined && { args }), ...(env !== undefined && { env }) };
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
