import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A TCP proxy that gives each new connection to the next of its targets. A target that refuses breaks the connection. */
export class RoundRobinProxy implements AsyncDisposable {
  readonly url: string;
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  /** @param listPorts the ports of the targets now; at least one */
  static async start(listPorts: () => readonly number[]): Promise<RoundRobinProxy> {
    const sockets = new Set<Socket>();
    let connections = 0;
    const server = createServer((incoming) => {
      const ports = listPorts();
      const outgoing = connect(ports[connections++ % ports.length] ?? 0, '127.0.0.1');
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
