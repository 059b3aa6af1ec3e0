import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A server on 127.0.0.1 whose handler takes web-standard requests. */
export interface WebServer extends AsyncDisposable {
  readonly origin: string;
  /** Method and path of every request so far. */
  readonly seen: readonly string[];
}

export async function openWebServer(
  answer: (request: Request) => Promise<Response> | Response,
  port = 0,
): Promise<WebServer> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    void serve(request, response).catch(() => response.destroy());
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    const { status, headers, body } = await answer(await toRequest(incoming, gone.signal));
    outgoing.writeHead(status, Object.fromEntries(headers));
    if (body === null) outgoing.end();
    else await pipeline(Readable.fromWeb(body), outgoing);
  }

  async function toRequest(incoming: IncomingMessage, signal: AbortSignal): Promise<Request> {
    const { method = 'GET', url = '/', headers } = incoming;
    const init = { method, signal, headers: headers as Record<string, string> };
    if (method === 'GET' || method === 'HEAD') return new Request(origin + url, init);
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    return new Request(origin + url, { ...init, body: Buffer.concat(chunks) });
  }

  return {
    origin,
    seen,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
