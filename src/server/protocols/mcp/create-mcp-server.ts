import type {
  CallToolResult,
  InputRequiredResult,
  McpServer,
  ServerContext as McpContext,
} from '@modelcontextprotocol/server';
import { isJsonObject } from '../../../core/index.ts';
import type { JsonObject } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import type { ManagedAgent } from '../../../managed/index.ts';
import type { Caller } from '../../auth/api-keys.ts';
import { toHttpError } from '../../http/http-error.ts';
import { listCodeAgentIds } from '../../routes/workspace-agents.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import type { OpenCall } from '../session-update.ts';
import {
  ARGUMENTS_SCHEMA,
  parseClientTools,
  RESULT_SCHEMA,
  toToolDescription,
  toToolName,
} from './agent-tool.ts';
import type { AgentArguments } from './agent-tool.ts';
import { callAgentTool, formatState } from './call-agent-tool.ts';
import type { AgentToolResult } from './call-agent-tool.ts';
import { addLogResources } from './log-resources.ts';
import type { McpServerSdk } from './mcp-server-sdk.ts';

/** Who uses a server of MCP, and how. */
export interface McpClient {
  readonly caller: Caller;
  /** A new id for a message, the same when the client sends the request again. */
  readonly newMessageId: () => string;
  /** Whether questions can reach the client during a call. */
  readonly canAsk: boolean;
}

/** How many agents are listed at most. */
const MAX_AGENTS = 500;

/** Creates a server for one client, or one request: each agent is a tool, and each session a resource. */
export async function createMcpServer(
  sdk: McpServerSdk,
  context: ServerContext,
  client: McpClient,
): Promise<McpServer> {
  const server = new sdk.McpServer(
    { name: 'petrichor', version: '1.0.0' },
    { capabilities: { tools: {}, resources: {} } },
  );
  for (const agent of await listAgents(context, client.caller.workspace))
    server.registerTool(
      toToolName(agent),
      {
        title: agent.source === 'code' ? agent.description.name : agent.definition.name,
        description: toToolDescription(agent),
        inputSchema: sdk.fromJsonSchema<AgentArguments>({ ...ARGUMENTS_SCHEMA }),
        outputSchema: sdk.fromJsonSchema({ ...RESULT_SCHEMA }),
        annotations: { readOnlyHint: false, openWorldHint: true },
      },
      async (args, { mcpReq }) =>
        runTool(context, { sdk, server, client, agentId: agent.id, args, mcpReq }),
    );
  addLogResources(sdk, server, context, client.caller);
  return server;
}

interface ToolCall {
  readonly sdk: McpServerSdk;
  readonly server: McpServer;
  readonly client: McpClient;
  readonly agentId: string;
  readonly args: AgentArguments;
  readonly mcpReq: McpContext['mcpReq'];
}

async function runTool(
  context: ServerContext,
  { sdk, server, client, agentId, args, mcpReq }: ToolCall,
): Promise<CallToolResult | InputRequiredResult> {
  const { _meta: meta, inputResponses, signal } = mcpReq;
  const state = mcpReq.requestState<string>();
  const token = meta?.progressToken;
  let progress = 0;
  const onProgress = (message: string): void => {
    if (token === undefined || signal.aborted) return;
    const params = { progressToken: token, progress: ++progress, message };
    // A client that does not read is no reason to stop.
    void mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
  try {
    const result = await callAgentTool(context, {
      caller: client.caller,
      agentId,
      args,
      messageId: client.newMessageId(),
      clientTools: parseClientTools(meta),
      answered:
        typeof state === 'string' && inputResponses !== undefined
          ? { state, responses: toJsonObject(inputResponses) }
          : undefined,
      signal,
      onProgress: token === undefined ? undefined : onProgress,
    });
    const { waits, outcome, isQueued } = result.ended;
    const asks = server.server.getClientCapabilities()?.elicitation !== undefined;
    const wasAsked = inputResponses !== undefined && isUnanswered(waits, inputResponses);
    if (outcome === 'waiting' && !isQueued && client.canAsk && asks && !wasAsked)
      return sdk.inputRequired({
        inputRequests: Object.fromEntries(
          waits.map((call) => [call.callId, toQuestion(sdk, call)]),
        ),
        requestState: formatState(result.session, waits),
      });
    return toToolResult(result);
  } catch (error) {
    const { status, message } = toHttpError(error);
    if (status >= 500) context.onError(error);
    return { isError: true, content: [{ type: 'text', text: message }] };
  }
}

/** True: the client was asked about a call that waits still, so its person gave no answer. */
function isUnanswered(
  waits: readonly OpenCall[],
  responses: Readonly<Record<string, unknown>>,
): boolean {
  return waits.some(({ callId }) => Object.hasOwn(responses, callId));
}

function toQuestion(
  sdk: McpServerSdk,
  { name, args, needs, reason, path, request }: OpenCall,
): ReturnType<McpServerSdk['inputRequired']['elicit']> {
  const agent = path.length === 0 ? '' : ` of ${path.join(' > ')}`;
  const details = `${JSON.stringify(args)}${request === undefined ? '' : ` ${JSON.stringify(request)}`}`;
  if (needs === 'result')
    return sdk.inputRequired.elicit({
      message: `${name}${agent} waits for a result: ${details}`,
      requestedSchema: {
        type: 'object',
        properties: { result: { type: 'string', title: 'Result' } },
        required: ['result'],
      },
    });
  const warning = reason === 'crash' ? ' It may have run: the process died during it.' : '';
  return sdk.inputRequired.elicit({
    message: `Approve the call of ${name}${agent}? ${details}${warning}`,
    requestedSchema: {
      type: 'object',
      properties: {
        approved: { type: 'boolean', title: 'Approve' },
        message: { type: 'string', title: 'Why not' },
      },
      required: ['approved'],
    },
  });
}

function toToolResult({ session, ended, text, toolResults }: AgentToolResult): CallToolResult {
  const { outcome, waits, error } = ended;
  const failure = error && { code: error.code, message: error.message };
  const structuredContent = {
    session_id: session.id,
    status: outcome,
    text,
    ...(toolResults.length > 0 && { tool_results: [...toolResults] }),
    ...(waits.length > 0 && { waits: waits.map(toWait) }),
    ...omitUndefined({ error: failure }),
  };
  return {
    content: [{ type: 'text', text: toResultText(ended, text, session.id) }],
    structuredContent,
    ...(outcome === 'failed' && { isError: true }),
  };
}

function toResultText({ outcome, waits, error }: RunEndedText, text: string, id: string): string {
  const next = `Call again with session_id "${id}"`;
  switch (outcome) {
    case 'completed':
      return text;
    case 'waiting': {
      const calls = waits.map(({ callId, name, needs }) => `${name} (${callId}) needs ${needs}`);
      return `${text}\nIt waits: ${calls.join(', ')}. ${next} and answers.`.trim();
    }
    case 'interrupted':
      return `${text}\nThe turn was stopped. ${next} to continue.`.trim();
    case 'failed':
      return error?.message ?? 'The turn failed. See the log of the server.';
    case 'closed':
      return 'The session was closed.';
    default:
      return outcome satisfies never;
  }
}

type RunEndedText = Pick<AgentToolResult['ended'], 'outcome' | 'waits' | 'error'>;

function toWait({ callId, name, args, needs }: OpenCall): JsonObject {
  return { call_id: callId, name, arguments: args, needs };
}

function toJsonObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

async function listAgents(
  { runtime, agents }: ServerContext,
  workspace: string,
): Promise<readonly ManagedAgent[]> {
  const { data } = await agents.list(
    workspace,
    { limit: MAX_AGENTS },
    async ({ id }) => {
      const agent = await runtime.getAgent(id);
      return agent.archivedAt === undefined ? agent : undefined;
    },
    listCodeAgentIds(runtime),
  );
  return data;
}
