import { omitUndefined } from '../../core/internal.ts';
import type { Client, ClientCapabilities, ClientOptions } from '@modelcontextprotocol/client';
import type { McpElicitationResult, McpToolsetSettings } from './vocabulary/mcp-options.ts';
import type { McpSdk } from './vocabulary/mcp-sdk.ts';
import { outputValidator } from './tools/output-validator.ts';
import { toElicitation } from './tools/elicitation.ts';

export interface ClientServices {
  readonly sdk: McpSdk;
  readonly settings: McpToolsetSettings & { readonly connectTimeoutMs: number };
  readonly isStdio: boolean;
  readonly onToolsChanged: () => void;
}

const VERSION = '0.2.0';
/**
 * The share of the connect timeout for probing the version: an old program may not answer an
 * unknown request at all, and any program may start slowly. Probe and start share the timeout.
 */
const PROBE_SHARE = 0.5;

/**
 * Creates a client that is not connected yet. Requests in an `input_required` result are returned
 * to the caller.
 */
export function createMcpClient({
  sdk,
  settings,
  isStdio,
  onToolsChanged,
}: ClientServices): Client {
  const { protocol = 'auto', roots, elicit, connectTimeoutMs } = settings;
  const probe = { timeoutMs: connectTimeoutMs * PROBE_SHARE };
  const options: ClientOptions = {
    capabilities: clientCapabilities(settings),
    versionNegotiation: {
      mode: protocol,
      ...omitUndefined({ probe: isStdio ? probe : undefined }),
    },
    inputRequired: { autoFulfill: false },
    jsonSchemaValidator: outputValidator,
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onToolsChanged } },
  };
  const client = new sdk.Client({ name: 'petrichor', version: VERSION }, options);
  // Only servers of the 2025 protocol ask during a call. Without `elicit`, no one can answer, and
  // the question is cancelled.
  client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
    const answer: McpElicitationResult = (await elicit?.(toElicitation(params), mcpReq.signal)) ?? {
      action: 'cancel',
    };
    const { action, content } = answer;
    return {
      action,
      ...omitUndefined({ content: content === undefined ? undefined : { ...content } }),
    };
  });
  if (roots !== undefined) {
    client.setRequestHandler('roots/list', () => ({ roots: roots.map((root) => ({ ...root })) }));
  }
  return client;
}

function clientCapabilities({ roots }: McpToolsetSettings): ClientCapabilities {
  return {
    elicitation: { form: { applyDefaults: true }, url: {} },
    ...omitUndefined({ roots: roots === undefined ? undefined : {} }),
  };
}
