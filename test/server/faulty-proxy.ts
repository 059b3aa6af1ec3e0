import { Agent, createServer, request } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What the proxy does to a request. `refuse`: the request is lost; `drop`: the response is lost; `truncate`: the
 * response is cut off in the middle; `delay`: both are delayed; `duplicate`: the server gets the request twice.
 */
export type Fault = 'none' | 'refuse' | 'drop' | 'truncate' | 'delay' | 'duplicate';

const DELAY_MS = 40;

/** A proxy between a client and a server that applies a fault to each request. */
export class FaultyProxy implements AsyncDisposable {
  readonly url: string;
  /** How often each fault was applied. */
  readonly done: Map<Fault, number> = new Map<Fault, number>();
  readonly #server: Server;
  readonly #agents: ReadonlySet<Agent>;

  private constructor(server: Server, agents: ReadonlySet<Agent>) {
    this.#server = server;
    this.#agents = agents;
    const address = server.address();
    this.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  }

  static async start(target: string, next: () => Fault): Promise<FaultyProxy> {
    // Each client connection has its own server connection with the same lifetime, so that the server notices when one
    // breaks.
    const agents = new Map<Socket, Agent>();
    const all = new Set<Agent>();
    const server = createServer((incoming, outgoing) => {
      const fault = next();
      proxy.done.set(fault, (proxy.done.get(fault) ?? 0) + 1);
      const agent = agents.get(incoming.socket) ?? new Agent({ keepAlive: true });
      agents.set(incoming.socket, agent);
      all.add(agent);
      pass(target, agent, { incoming, outgoing, fault }).catch(() => incoming.socket.destroy());
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve());
    });
    const proxy = new FaultyProxy(server, all);
    return proxy;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const agent of this.#agents) agent.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}

async function pass(
  target: string,
  agent: Agent,
  {
    incoming,
    outgoing,
    fault,
  }: {
    readonly incoming: IncomingMessage;
    readonly outgoing: ServerResponse;
    readonly fault: Fault;
  },
): Promise<void> {
  const body = await buffer(incoming);
  if (fault === 'refuse') return void incoming.socket.destroy();
  if (fault === 'delay') await sleep(DELAY_MS);
  const requests = [ask(target, agent, incoming, body)];
  if (fault === 'duplicate') requests.push(ask(target, agent, incoming, body));
  const [reply] = await Promise.all(requests);
  if (reply === undefined) return;
  const { headers, status, text, lose } = reply;
  if (fault === 'delay') await sleep(DELAY_MS);
  if (fault === 'drop' || fault === 'truncate') lose();
  if (fault === 'drop') return void incoming.socket.destroy();
  outgoing.writeHead(status, { ...headers, 'content-length': text.length });
  if (fault !== 'truncate') return void outgoing.end(text);
  outgoing.write(text.subarray(0, text.length / 2), () => incoming.socket.destroy());
}

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: Buffer;
  /** Destroys the client's connection. */
  readonly lose: () => void;
}

async function ask(
  target: string,
  agent: Agent,
  { method = 'GET', url = '/', headers }: IncomingMessage,
  body: Buffer,
): Promise<Reply> {
  const { connection: _, host: __, ...rest } = headers;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = request(new URL(url, target), { method, agent, headers: rest }, resolve);
    outgoing.once('error', reject);
    outgoing.end(body);
  });
  const { socket } = response;
  return {
    status: response.statusCode ?? 502,
    headers: { 'content-type': response.headers['content-type'] ?? '' },
    text: await buffer(response),
    lose: () => void socket.destroy(),
  };
}
