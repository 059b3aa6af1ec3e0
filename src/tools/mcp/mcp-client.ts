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

const VERSION = '0.1.0';
/** An old program may not answer at all to what it does not know, and any may take its time to start: both share the time. */
const PROBE_SHARE = 0.5;

/** A client that is not connected yet. What a server asks in an `input_required` result comes back to the caller. */
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
    versionNegotiation: { mode: protocol, ...(isStdio && { probe }) },
    inputRequired: { autoFulfill: false },
    jsonSchemaValidator: outputValidator,
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onToolsChanged } },
  };
  const client = new sdk.Client({ name: 'petrichor', version: VERSION }, options);
  // Only servers of 2025 ask in the middle of a call: nobody is there to answer unless the settings say who.
  client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
    const answer: McpElicitationResult = (await elicit?.(toElicitation(params), mcpReq.signal)) ?? {
      action: 'cancel',
    };
    const { action, content } = answer;
    return { action, ...(content !== undefined && { content: { ...content } }) };
  });
  if (roots !== undefined) {
    client.setRequestHandler('roots/list', () => ({ roots: roots.map((root) => ({ ...root })) }));
  }
  return client;
}

function clientCapabilities({ roots }: McpToolsetSettings): ClientCapabilities {
  return {
    elicitation: { form: { applyDefaults: true }, url: {} },
    ...(roots !== undefined && { roots: {} }),
  };
}
