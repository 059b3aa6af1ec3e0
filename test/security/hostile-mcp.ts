import { openWebServer, type WebServer } from '../mcp/web-server.ts';

/** One message of a client, as it comes over the wire. */
export interface Asked {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** What a server of the 2025 protocol says to each request: a result, or a whole response. */
export type Answers = Readonly<
  Record<string, (asked: Asked, request: Request) => object | Response | Promise<Response>>
>;

export interface HostileMcp extends WebServer {
  readonly url: string;
}

/** A tool as a server lists it, with a schema that is fine unless another is given. */
export function listed(name: unknown, more: object = {}): object {
  return { name, description: 'A tool.', inputSchema: { type: 'object' }, ...more };
}

/** An MCP server over HTTP, written by hand so that nothing keeps it from saying what no server should. */
export async function openHostileMcp(answers: Answers): Promise<HostileMcp> {
  const web = await openWebServer(async (request) => {
    if (request.method !== 'POST') {
      const own = answers[request.method];
      return own === undefined
        ? new Response(null, { status: 405 })
        : toResponse(undefined, await own({ method: request.method }, request));
    }
    const asked = (await request.json()) as Asked;
    const answer = answers[asked.method] ?? usual[asked.method];
    if (answer !== undefined) return toResponse(asked.id, await answer(asked, request));
    if (asked.id === undefined) return new Response(null, { status: 202 });
    const error = { code: -32_601, message: 'Method not found' };
    return Response.json({ jsonrpc: '2.0', id: asked.id, error });
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

function toResponse(id: Asked['id'], answer: object | Response): Response {
  if (answer instanceof Response) return answer;
  return Response.json({ jsonrpc: '2.0', id, result: answer });
}
