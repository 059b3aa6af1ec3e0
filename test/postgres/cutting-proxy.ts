import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';

/**
 * What happens to bytes on the way to the server. `cut`: they do not arrive, and the connection breaks.
 * `lose-reply`: they arrive, and the connection breaks instead of the reply. `cut-behind`: they are sent, and the
 * connection breaks at once, so it is unknown whether they arrived. `swallow`: they do not arrive, without any error.
 */
export type Fate = 'pass' | 'cut' | 'lose-reply' | 'cut-behind' | 'swallow';

/** A connection through the proxy. */
export interface ProxiedConnection {
  /** True for the connection that holds the owner locks and listens for notifications. */
  readonly isPresence: boolean;
  readonly isInTransaction: boolean;
  cut(): void;
}

/** A proxy between a store and its server that breaks connections under the control of a test. */
export interface CuttingProxy {
  readonly url: string;
  readonly connections: ReadonlySet<ProxiedConnection>;
  /** Decides the fate of each message to the server. Default: everything passes. */
  judge: (bytes: Buffer, connection: ProxiedConnection) => Fate;
  /** While true, new connections are refused. */
  refusing: boolean;
  cutAll(): void;
  stop(): Promise<void>;
}

class Proxied implements ProxiedConnection {
  readonly client: Socket;
  readonly server: Socket;
  isPresence = false;
  isInTransaction = false;
  losesReply = false;

  constructor(client: Socket, server: Socket) {
    this.client = client;
    this.server = server;
  }

  cut(): void {
    this.client.resetAndDestroy();
    this.server.destroy();
  }
}

/** How a proxy reads the messages of a protocol. */
export interface ProxiedProtocol {
  readonly port: number;
  /** The path of the local socket that a URL names. */
  readonly socketPath: (url: URL) => string | null;
  /** A message of the connection that holds the owner locks. */
  readonly presence: string;
  readonly begin: string;
  readonly end: RegExp;
}

const POSTGRES: ProxiedProtocol = {
  port: 5432,
  socketPath: ({ searchParams, port }) => {
    const folder = searchParams.get('host');
    return folder === null ? null : `${folder}/.s.PGSQL.${port || 5432}`;
  },
  presence: 'LISTEN ',
  begin: 'BEGIN',
  end: /COMMIT\0|ROLLBACK\0/,
};

/** Starts a proxy on a free port before the server of `url`. */
export async function startCuttingProxy(
  url: string,
  protocol: ProxiedProtocol = POSTGRES,
): Promise<CuttingProxy> {
  const parsed = new URL(url.replace(/^(\w+:\/\/[^@/]*@)\//, '$1socket/'));
  const socketPath = protocol.socketPath(parsed);
  const dial = (): Socket =>
    socketPath === null
      ? connect(Number(parsed.port || protocol.port), parsed.hostname)
      : connect(socketPath);
  const open = new Set<Proxied>();
  const listener = createServer((client) => {
    if (proxy.refusing) {
      client.resetAndDestroy();
      return;
    }
    const one = new Proxied(client, dial());
    open.add(one);
    client.setNoDelay(true);
    for (const socket of [one.client, one.server]) {
      socket.on('error', () => one.cut());
      socket.on('close', () => {
        open.delete(one);
        one.cut();
      });
    }
    one.server.on('data', (bytes) => {
      if (one.losesReply) one.cut();
      else client.write(bytes);
    });
    client.on('data', (bytes) => {
      const text = bytes.toString('latin1');
      if (text.includes(protocol.presence)) one.isPresence = true;
      const fate = proxy.judge(bytes, one);
      if (text.includes(protocol.begin)) one.isInTransaction = true;
      if (protocol.end.test(text)) one.isInTransaction = false;
      if (fate === 'cut') one.cut();
      else if (fate === 'cut-behind') {
        one.server.end(bytes);
        client.resetAndDestroy();
      } else if (fate !== 'swallow') {
        one.losesReply = fate === 'lose-reply';
        one.server.write(bytes);
      }
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const proxy: CuttingProxy = {
    url: `${parsed.protocol}//${parsed.username}${parsed.password && `:${parsed.password}`}@127.0.0.1:${address.port}${parsed.pathname}`,
    connections: open,
    judge: () => 'pass',
    refusing: false,
    cutAll: () => {
      for (const one of open) one.cut();
    },
    stop: async () => {
      listener.close();
      for (const one of open) one.cut();
      await once(listener, 'close');
    },
  };
  return proxy;
}
