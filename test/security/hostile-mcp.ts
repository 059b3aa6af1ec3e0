import { openWebServer, type WebServer } from '../mcp/web-server.ts';

/** One message of a client, in wire format. */
export interface McpRequest {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** Responses of a server with protocol 2025 by method: a result, or a whole response. */
export type Answers = Readonly<
  Record<string, (message: McpRequest, request: Request) => object | Response | Promise<Response>>
>;

export interface HostileMcp extends WebServer {
  readonly url: string;
}

/** A tool in a server's list. Its schema is valid by default. */
export function listed(name: unknown, more: object = {}): object {
  return { name, description: 'A tool.', inputSchema: { type: 'object' }, ...more };
}

/** A hand-written MCP server over HTTP, which can send responses that no real server would send. */
export async function openHostileMcp(answers: Answers): Promise<HostileMcp> {
  const web = await openWebServer(async (request) => {
    if (request.method !== 'POST') {
      const own = answers[request.method];
      return own === undefined
        ? new Response(null, { status: 405 })
        : toResponse(undefined, await own({ method: request.method }, request));
    }
    const message = (await request.json()) as McpRequest;
    const answer = answers[message.method] ?? usual[message.method];
    if (answer !== undefined) return toResponse(message.id, await answer(message, request));
    if (message.id === undefined) return new Response(null, { status: 202 });
    const error = { code: -32_601, message: 'Method not found' };
    return Response.json({ jsonrpc: '2.0', id: message.id, error });
  });
  return { ...web, seen: web.seen, url: `${web.origin}/mcp` };
}

const usual: Answers = {
  initialize: () => ({
    protocolVersion: '2025-06-18',
    capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
    serverInfo: { name: 'hostile', version: '1' },
  }),
  'tools/list': () => ({ tools: [listed('fine')] }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'done' }] }),
};

function toResponse(id: McpRequest['id'], answer: object | Response): Response {
  if (answer instanceof Response) return answer;
  return Response.json({ jsonrpc: '2.0', id, result: answer });
}
