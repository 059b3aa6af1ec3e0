import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface RoundRobinProxyOptions {
  /** The ports of the targets now. */
  readonly listPorts: () => readonly number[];
  /** Called with the first line of each request, and the port that it went to. */
  readonly onRequest?: (line: string, port: number) => void;
}

/** A TCP proxy that gives each new connection to the next of its targets. A target that refuses breaks the connection. */
export class RoundRobinProxy implements AsyncDisposable {
  readonly url: string;
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  static async start({ listPorts, onRequest }: RoundRobinProxyOptions): Promise<RoundRobinProxy> {
    const sockets = new Set<Socket>();
    let connections = 0;
    const server = createServer((incoming) => {
      const ports = listPorts();
      const port = ports[connections++ % ports.length];
      if (port === undefined) {
        incoming.destroy();
        return;
      }
      const outgoing = connect(port, '127.0.0.1');
      if (onRequest !== undefined)
        incoming.on('data', (chunk) => {
          const line = /^[A-Z]+ \S+ HTTP/.exec(chunk.toString('latin1'));
          if (line !== null) onRequest(line[0], port);
        });
      for (const [from, to] of [
        [incoming, outgoing],
        [outgoing, incoming],
      ] as const) {
        sockets.add(from);
        from.pipe(to);
        from.on('error', () => to.destroy());
        from.on('close', () => {
          sockets.delete(from);
          to.destroy();
        });
      }
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as AddressInfo;
    return new RoundRobinProxy(`http://127.0.0.1:${port}`, async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}
