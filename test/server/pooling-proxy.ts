import { Agent, createServer, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * A proxy that behaves like a load balancer: all requests share its connections to the server, which stay open whatever
 * happens to a client. Responses whose number (from 1) `isLost` accepts are read from the server in full, and then the
 * client's connection breaks before any of their bytes are sent on.
 */
export class PoolingProxy implements AsyncDisposable {
  readonly url: string;
  /** Number of lost responses. */
  lost = 0;
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  static async start(
    target: () => string,
    isLost: (reply: number) => boolean,
  ): Promise<PoolingProxy> {
    // One connection: the next request on it shows the server that the previous response was read.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let replies = 0;
    const server = createServer((incoming, outgoing) => {
      void (async () => {
        const body = await buffer(incoming);
        const url = new URL(incoming.url ?? '/', target());
        const { host: _, connection: __, ...headers } = incoming.headers;
        const reply = await ask(agent, url, { method: incoming.method ?? 'GET', headers }, body);
        const text = await buffer(reply);
        if (isLost(++replies)) {
          proxy.lost++;
          await buffer(await ask(agent, new URL('/health', target()), { method: 'GET' }));
          incoming.socket.destroy();
          return;
        }
        outgoing.writeHead(reply.statusCode ?? 502, {
          'content-type': reply.headers['content-type'] ?? 'application/json',
        });
        outgoing.end(text);
      })().catch(() => incoming.socket.destroy());
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as AddressInfo;
    const proxy = new PoolingProxy(`http://127.0.0.1:${port}`, async () => {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    });
    return proxy;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

async function ask(
  agent: Agent,
  url: URL,
  options: { readonly method: string; readonly headers?: IncomingMessage['headers'] },
  body?: Buffer,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { ...options, agent }, resolve);
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}
