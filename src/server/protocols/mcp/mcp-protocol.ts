import * as v from 'valibot';
import { defineRoute } from '../../routing/route.ts';
import type { HttpRoute, RouteCall } from '../../routing/route.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import type { Protocol } from '../protocol.ts';
import { createMcpServer } from './create-mcp-server.ts';
import { loadMcpServerSdk } from './mcp-server-sdk.ts';
import type { McpServerSdk } from './mcp-server-sdk.ts';

type Call = RouteCall<unknown, Readonly<Record<string, unknown>>>;

const rpcMessage = v.looseObject({});

/** MCP over streamable HTTP, of 2026-07-28 and, without questions during a call, of 2025. Loads the official SDK. */
export async function openMcpProtocol(): Promise<Protocol> {
  const sdk = await loadMcpServerSdk();
  return { name: 'mcp', routes: (context) => mcpRoutes(context, sdk) };
}

function mcpRoutes(context: ServerContext, sdk: McpServerSdk): readonly HttpRoute[] {
  const calls = new WeakMap<Request, Call>();
  const endpoint = sdk.createMcpHandler(
    async ({ era, requestInfo }) => {
      const call = requestInfo === undefined ? undefined : calls.get(requestInfo);
      if (call === undefined) throw new Error('The SDK serves a request that it was not given.');
      const { caller, idempotentRequest } = call;
      return createMcpServer(sdk, context, {
        caller,
        newMessageId: () => idempotentRequest.key,
        // A client of 2025 answers questions by requests of their own, which nothing connects with the call.
        canAsk: era === 'modern',
      });
    },
    { onerror: context.onError, keepAliveMs: context.keepAliveMs },
  );
  context.closing.addEventListener('abort', () => void endpoint.close().catch(context.onError), {
    once: true,
  });
  const answer = async (call: Call): Promise<Response> => {
    const { request, body } = call;
    calls.set(request, call);
    const options = request.method === 'POST' ? { parsedBody: { ...body } } : {};
    const { body: sent, status, headers } = await endpoint.fetch(request, options);
    // The pipeline adds headers.
    return new Response(sent, { status, headers: new Headers(headers) });
  };
  return [
    defineRoute('POST /mcp: Call agents as tools (MCP)', {
      body: rpcMessage,
      response: v.looseObject({ jsonrpc: v.literal('2.0') }),
      streams: true,
      run: answer,
    }),
    defineRoute('GET /mcp: Not used by this server (MCP of 2025)', {
      response: v.looseObject({}),
      run: answer,
    }),
    defineRoute('DELETE /mcp: Not used by this server (MCP of 2025)', {
      response: v.looseObject({}),
      run: answer,
    }),
  ];
}
