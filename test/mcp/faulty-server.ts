import { openWebServer, type WebServer } from './web-server.ts';

/** A hand-written server of the 2025 protocol that violates the protocol on request. */
export interface FaultyServer extends WebServer {
  readonly url: string;
  /** Of the last request. */
  readonly headers: Readonly<Record<string, string>>;
}

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly cursor?: string };
}

const object = { type: 'object' };
const pages: Readonly<Record<string, object>> = {
  '': { tools: ['hang', 'cut', 'reset'].map(toolNamed), nextCursor: 'two' },
  two: { tools: ['html', 'refuse', 'nonsense'].map(toolNamed), nextCursor: 'three' },
  three: {
    tools: [
      { name: 'bad', inputSchema: { type: 'object', properties: { a: { $ref: '#/nowhere' } } } },
      toolNamed('dotted.name'),
      ...['tell', 'complain', 'complain-in-html', 'resume'].map(toolNamed),
    ],
  },
};

function toolNamed(name: string): object {
  return { name, description: `Does ${name}.`, inputSchema: object };
}

export async function openFaultyServer(): Promise<FaultyServer> {
  let headers: Readonly<Record<string, string>> = {};
  let resumable: number | undefined;
  const web = await openWebServer(async (request) => {
    headers = Object.fromEntries(request.headers);
    const { pathname } = new URL(request.url);
    if (pathname === '/page') return page(200);
    if (pathname === '/silent') return new Promise<never>(() => undefined);
    if (request.method === 'DELETE') return new Promise<never>(() => undefined);
    if (headers['last-event-id'] === 'one') return resumed(resumable);
    if (request.method !== 'POST') return new Response(null, { status: 405 });
    const message = (await request.json()) as Message;
    if (message.params?.name === 'resume') resumable = message.id;
    return answer(message, headers);
  });
  return {
    ...web,
    url: `${web.origin}/mcp`,
    get headers() {
      return headers;
    },
  };
}

type Headers = Readonly<Record<string, string>>;

function answer({ id, method, params = {} }: Message, headers: Headers): Response | Promise<never> {
  switch (method) {
    case 'initialize':
      return result(
        id,
        {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'faulty', version: '1' },
        },
        // A session whose termination request it never answers.
        { 'mcp-session-id': 'one' },
      );
    case 'tools/list':
      return result(id, pages[params.cursor ?? ''] ?? {});
    case 'tools/call':
      return called(id, params.name ?? '', headers);
    default:
      return id === undefined
        ? new Response(null, { status: 202 })
        : json({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } });
  }
}

function called(id: number | undefined, name: string, headers: Headers): Response | Promise<never> {
  switch (name) {
    case 'tell':
      return result(id, { content: [{ type: 'text', text: JSON.stringify(headers) }] });
    case 'complain':
      return json({ jsonrpc: '2.0', id, error: { code: -32_000, message: saying(headers) } });
    case 'complain-in-html':
      return page(500, saying(headers));
    case 'cut':
      return stream((controller) => {
        controller.enqueue(new TextEncoder().encode(': begins\n\n'));
        controller.close();
      });
    case 'reset':
      return stream((controller) => {
        controller.enqueue(new TextEncoder().encode(': begins\n\n'));
        setImmediate(() => controller.error(new Error('reset')));
      });
    case 'resume':
      return stream((controller) => {
        const notification = {
          jsonrpc: '2.0',
          method: 'notifications/message',
          params: { level: 'info' },
        };
        controller.enqueue(event(`id: one\nretry: 1`, notification));
        setImmediate(() => controller.error(new Error('reset')));
      });
    case 'html':
      return page(502);
    case 'nonsense':
      return result(id, { content: 'not a list' });
    case 'refuse':
      return json({ jsonrpc: '2.0', id, error: { code: -32_000, message: 'not today' } });
    default:
      return new Promise<never>(() => undefined);
  }
}

/** The rest of a broken stream, for a client that sends the last event it received. */
function resumed(id: number | undefined): Response {
  const content = [{ type: 'text', text: 'resumed' }];
  return stream((controller) => {
    controller.enqueue(event('id: two', { jsonrpc: '2.0', id, result: { content } }));
    controller.close();
  });
}

function event(fields: string, data: object): Uint8Array {
  return new TextEncoder().encode(`${fields}\ndata: ${JSON.stringify(data)}\n\n`);
}

function result(id: number | undefined, value: object, headers = {}): Response {
  return Response.json({ jsonrpc: '2.0', id, result: value }, { headers });
}

function json(body: object): Response {
  return Response.json(body);
}

function saying({ authorization, 'x-api-key': key }: Headers): string {
  return `bad credentials: ${authorization}, ${key}`;
}

function page(status: number, text = 'Bad gateway'): Response {
  return new Response(`<h1>${text}</h1>`, { status, headers: { 'content-type': 'text/html' } });
}

function stream(start: (controller: ReadableStreamDefaultController) => void): Response {
  const headers = { 'content-type': 'text/event-stream' };
  return new Response(new ReadableStream({ start }), { headers });
}
