import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface CuttableProxy extends AsyncDisposable {
  readonly url: string;
  /** Closes all open connections. New ones are accepted. */
  readonly cut: () => void;
}

/**
 * A proxy that behaves like an unreliable network. A response for whose number `isLost` returns true is dropped
 * together with its connection, before any of its bytes are sent on.
 */
export async function cuttableProxy(
  target: string,
  isLost: (reply: number) => boolean = () => false,
): Promise<CuttableProxy> {
  let replies = 0;
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const proxy = createServer((near) => {
    const far = connect(Number(port), hostname);
    near.pipe(far);
    far.on('data', (data: Buffer) => {
      const isNew = data.subarray(0, 9).toString() === 'HTTP/1.1 ';
      if (isNew && isLost(++replies)) near.destroy();
      else near.write(data);
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.once('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve);
  });
  const address = proxy.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    cut,
    [Symbol.asyncDispose]: async () => {
      cut();
      await new Promise((resolve) => {
        proxy.close(resolve);
      });
    },
  };
}
