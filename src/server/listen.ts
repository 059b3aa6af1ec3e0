import type { EventEmitter } from 'node:events';
import { createServer as createHttpServer, IncomingMessage, ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { InvalidInputError, checkOptions, optionTable } from '../core/index.ts';
import type { OptionTable } from '../core/index.ts';
import { systemClock } from '../net/index.ts';
import type { Clock } from '../net/index.ts';
import { clientAddress } from './http/client-address.ts';
import type { ConnectionInfo, Server } from './create-server.ts';
import { loadServerPackage } from './missing-server-package-error.ts';

/** Where a server is reached: a port of this machine, and for whom. */
export interface ListenOptions {
  /** 0: any that is free. */
  readonly port: number;
  /** 127.0.0.1 unless said. Another one needs a server that requires keys, and a key. */
  readonly hostname?: string;
  /** Whether the server asks for keys once there is one; when not, only this machine's own addresses are served. */
  readonly keysRequired: boolean;
  /**
   * Addresses of proxies in front of the server, as it sees them: `127.0.0.1`. A request that comes from one is counted
   * for the address that its `x-forwarded-for` names. Default: none.
   */
  readonly trustedProxies?: readonly string[];
  readonly clock?: Clock;
}

/** The options of `listen`. */
export const LISTEN_OPTIONS: OptionTable = optionTable<ListenOptions>(
  'listen',
  { port: true, hostname: true, keysRequired: true, trustedProxies: true, clock: true },
  { host: 'hostname' },
);

/** A server on its port, until it is closed or disposed of. */
export interface ListeningServer extends AsyncDisposable {
  /** Where it is: what clients take as their base URL. */
  readonly url: string;
  readonly port: number;
  /** Takes no more connections, ends streams, lets the requests that run end, and resolves. */
  readonly close: () => Promise<void>;
}

const LOOPBACK_HOSTS = new Set(['127.0.0.1', '::1', 'localhost']);
/** A connection that lives on for so long after a reply shows that the reply came through. */
const DELIVERY_GRACE_MS = 250;
const CLOSE_TIMEOUT_MS = 5000;

/**
 * Serves on a port of this machine.
 * @throws InvalidInputError for an address that others can reach while nobody must bring a key, and for a trusted proxy
 *   that is no IP address; MissingServerPackageError
 */
export async function listen(server: Server, options: ListenOptions): Promise<ListeningServer> {
  checkOptions(LISTEN_OPTIONS, options);
  const { port, hostname = '127.0.0.1', keysRequired, clock = systemClock } = options;
  if (!LOOPBACK_HOSTS.has(hostname) && !(keysRequired && (await server.keys.hasActiveKey())))
    throw new InvalidInputError(
      'hostname',
      `"${hostname}" can be reached by others: make a key first, with petrichor keys create.`,
    );
  const trusted = parseTrustedProxies(options.trustedProxies);
  const loading = import('@hono/node-server');
  const { createAdaptorServer } = await loadServerPackage('@hono/node-server', loading);
  const unconfirmed = new WeakMap<Socket, () => void>();
  const httpServer = createAdaptorServer({
    fetch: async (request, { incoming, outgoing }) => {
      const isHttp1 = incoming instanceof IncomingMessage && outgoing instanceof ServerResponse;
      const connectionInfo: ConnectionInfo = isHttp1
        ? {
            delivered: trackDelivery(incoming, outgoing, clock, unconfirmed),
            destroyConnection: () => void outgoing.destroy(),
            address: clientAddress(
              incoming.socket.remoteAddress ?? '',
              [incoming.headers['x-forwarded-for'] ?? ''].flat().join(','),
              trusted,
            ),
          }
        : {};
      return server.fetch(request, connectionInfo);
    },
    overrideGlobalObjects: false,
    createServer: createHttpServer,
  });
  await new Promise<void>((resolve, reject) => {
    httpServer.once('error', reject);
    httpServer.listen(port, hostname, () => resolve());
  });
  const address = httpServer.address();
  const boundPort = typeof address === 'object' && address !== null ? address.port : port;
  const host = hostname.includes(':') ? `[${hostname}]` : hostname;
  const connections = new ConnectionTracker(httpServer);
  const close = async (): Promise<void> => {
    const serverClosed = server.close();
    const closed = new Promise<void>((resolve) => {
      httpServer.close(() => resolve());
    });
    connections.closeIdle();
    const cancel = clock.at(clock.now() + CLOSE_TIMEOUT_MS, () => {
      if ('closeAllConnections' in httpServer) httpServer.closeAllConnections();
    });
    await Promise.all([closed, serverClosed]);
    cancel();
  };
  return {
    url: `http://${host}:${boundPort}`,
    port: boundPort,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** @throws InvalidInputError for what is no address: requests of such a proxy would all count for the proxy */
function parseTrustedProxies(proxies: readonly string[] = []): ReadonlySet<string> {
  const wrong = proxies.find((proxy) => isIP(proxy) === 0);
  if (wrong === undefined) return new Set(proxies);
  throw new InvalidInputError(
    'trustedProxies',
    `must list IP addresses such as 10.0.0.1 or ::1, no names and no ranges; it has ${JSON.stringify(wrong)}.`,
  );
}

/**
 * The connections of a server. One that was opened ahead and never asked for anything counts as busy with Node, and
 * would keep a server that closes.
 */
class ConnectionTracker {
  readonly #requests = new Map<Socket, number>();
  #isClosing = false;

  constructor(server: EventEmitter) {
    server.on('connection', (socket: Socket) => {
      this.#requests.set(socket, 0);
      socket.once('close', () => this.#requests.delete(socket));
    });
    server.on('request', ({ socket }: IncomingMessage, reply: ServerResponse) => {
      this.#change(socket, 1);
      reply.once('close', () => this.#change(socket, -1));
    });
  }

  /** Those without a request end now, the others with their last reply. */
  closeIdle(): void {
    this.#isClosing = true;
    for (const socket of this.#requests.keys()) this.#change(socket, 0);
  }

  #change(socket: Socket, by: number): void {
    const requests = this.#requests.get(socket);
    if (requests === undefined) return;
    this.#requests.set(socket, requests + by);
    if (this.#isClosing && requests + by === 0) socket.destroySoon();
  }
}

/**
 * Whether a reply reached its client. Nobody says so: a connection that ends at once after it was written says that it
 * may not have, unless the client had asked for that.
 */
async function trackDelivery(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  clock: Clock,
  unconfirmed: WeakMap<Socket, () => void>,
): Promise<boolean | 'unsure'> {
  // Who asks again on a connection has read what it was told on it before.
  unconfirmed.get(incoming.socket)?.();
  const { promise, resolve } = Promise.withResolvers<boolean | 'unsure'>();
  outgoing.once('finish', () => {
    if (incoming.headers.connection === 'close') return resolve(true);
    const { socket } = incoming;
    if (socket.destroyed) return resolve(false);
    let isConfirmed = false;
    const confirm = (delivered: true | 'unsure'): void => {
      if (isConfirmed) return;
      isConfirmed = true;
      cancel();
      socket.off('close', onClose);
      unconfirmed.delete(socket);
      resolve(delivered);
    };
    const onClose = (): void => confirm('unsure');
    // What happened to the connection meanwhile is heard first: timers go before it when the process was held up.
    const cancel = clock.at(clock.now() + DELIVERY_GRACE_MS, () => {
      setImmediate(() => setImmediate(() => confirm(socket.destroyed ? 'unsure' : true)));
    });
    socket.once('close', onClose);
    unconfirmed.set(socket, () => confirm(true));
  });
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) resolve(false);
  });
  return promise;
}
