import { importOptional, isLoopbackHost, toListenError } from '../core/internal.ts';
import type { EventEmitter } from 'node:events';
import { createServer as createHttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { InvalidInputError, checkOptions, optionTable } from '../core/index.ts';
import type { OptionTable } from '../core/index.ts';
import { systemClock } from '../net/index.ts';
import type { Clock } from '../net/index.ts';
import type { Server } from './create-server.ts';
import { clientAddress } from './http/client-address.ts';
import { MissingServerPackageError } from './http/missing-server-package-error.ts';
import { parseTrustedProxies } from './http/trusted-proxies.ts';
import type { ConnectionInfo } from './routing/connection-info.ts';

/** Port, host name and proxies of a listening server. */
export interface ListenOptions {
  /** 0: any free port. */
  readonly port: number;
  /** Default: 127.0.0.1. An address that is not a loopback address needs `keysRequired` and at least one valid key. */
  readonly hostname?: string;
  /** Whether the server requires a key as soon as one exists. If false, only loopback addresses are allowed. */
  readonly keysRequired: boolean;
  /**
   * IP addresses, and ranges of them, of proxies in front of the server, as the server sees them: `127.0.0.1`,
   * `10.0.0.0/8`. A request from one is counted for the client address in its `x-forwarded-for`. Default: none.
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

/** A listening server. */
export interface ListeningServer extends AsyncDisposable {
  /** Base URL for clients. */
  readonly url: string;
  readonly port: number;
  /**
   * Accepts no new connections, ends streams, waits for running requests, and resolves. After 5 seconds it closes the
   * remaining connections.
   */
  readonly close: () => Promise<void>;
}

/** If a connection stays open for this long after a response, the response counts as delivered. */
const DELIVERY_GRACE_MS = 250;
const CLOSE_TIMEOUT_MS = 5000;
const IN_USE_REMEDY =
  'Choose another port (--port of petrichor serve; 0 for any free one), or end the other program.';

/** Processes that share a port, and pass requests to each other. */
export interface RequestRouting {
  /** The local socket where this process takes requests from the others. Only processes of this user may reach it. */
  readonly socketPath: string;
  /** The address of the client of a request that another process has passed on. */
  readonly findAddress: (incoming: IncomingMessage) => string;
  /** Passes a request on, or calls `answerHere`. */
  readonly handle: (
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    address: string,
    answerHere: () => void,
  ) => void;
  /** The same for a request for a WebSocket. */
  readonly handleUpgrade: (
    incoming: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    address: string,
    answerHere: () => void,
  ) => void;
}

/**
 * Starts to listen on a port of this machine.
 * @throws InvalidInputError for a host name that others can reach while no key is required, and for a trusted proxy
 * that is not an IP address or range, and for a port that is in use; MissingServerPackageError when `@hono/node-server` is not installed
 */
export async function listen(server: Server, options: ListenOptions): Promise<ListeningServer> {
  return listenWithRouting(server, options);
}

/** Starts to listen as one of several processes that pass requests to each other. Otherwise as `listen`. */
export async function listenWithRouting(
  server: Server,
  options: ListenOptions,
  routing?: RequestRouting,
): Promise<ListeningServer> {
  checkOptions(LISTEN_OPTIONS, options);
  const { port, hostname = '127.0.0.1', keysRequired, clock = systemClock } = options;
  if (!isLoopbackHost(hostname) && !(keysRequired && (await server.keys.hasActiveKey())))
    throw new InvalidInputError(
      'hostname',
      `"${hostname}" is reachable from other machines. Create a key first, with petrichor keys create.`,
    );
  const trusted = parseTrustedProxies(options.trustedProxies);
  const createHttp = await loadHttpServers(server, clock);
  const httpServer = createHttp({
    findAddress: (incoming) =>
      clientAddress(
        incoming.socket.remoteAddress ?? '',
        [incoming.headers['x-forwarded-for'] ?? ''].flat().join(','),
        trusted,
      ),
    routing,
  });
  const servers = [httpServer];
  if (routing !== undefined) {
    const localServer = createHttp({ findAddress: routing.findAddress });
    // Exclusive: otherwise the first process of a cluster would accept each connection, and pass it on.
    await untilListening(localServer, () =>
      localServer.listen({ path: routing.socketPath, exclusive: true }),
    );
    servers.push(localServer);
  }
  await untilListening(httpServer, () => httpServer.listen(port, hostname)).catch(
    (error: unknown) => {
      for (const one of servers) one.close();
      throw error instanceof Error
        ? toListenError(error, { port, hostname }, IN_USE_REMEDY)
        : error;
    },
  );
  const address = httpServer.address();
  const boundPort = typeof address === 'object' && address !== null ? address.port : port;
  const host = hostname.includes(':') ? `[${hostname}]` : hostname;
  const trackers = servers.map((one) => new ConnectionTracker(one));
  const close = async (): Promise<void> => {
    const serverClosed = server.close();
    const closed = servers.map(
      async (one) => new Promise<void>((resolve) => void one.close(() => resolve())),
    );
    for (const tracker of trackers) tracker.closeIdle();
    const cancel = clock.at(clock.now() + CLOSE_TIMEOUT_MS, () => {
      for (const one of servers) one.closeAllConnections();
    });
    await Promise.all([...closed, serverClosed]);
    cancel();
  };
  return {
    url: `http://${host}:${boundPort}`,
    port: boundPort,
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface HttpServerPlan {
  readonly findAddress: (incoming: IncomingMessage) => string;
  readonly routing?: RequestRouting | undefined;
}

/** Creates HTTP servers that answer with the server. @throws MissingServerPackageError */
async function loadHttpServers(
  server: Server,
  clock: Clock,
): Promise<(plan: HttpServerPlan) => HttpServer> {
  const { getRequestListener } = await importOptional(
    import('@hono/node-server'),
    (cause) => new MissingServerPackageError('@hono/node-server', cause),
  );
  const unconfirmed = new WeakMap<Socket, () => void>();
  const { upgrade } = server;
  return ({ findAddress, routing }) => {
    const answer = getRequestListener(
      async (request, { incoming, outgoing }) => {
        const isHttp1 = incoming instanceof IncomingMessage && outgoing instanceof ServerResponse;
        const connectionInfo: ConnectionInfo = isHttp1
          ? {
              delivered: trackDelivery(incoming, outgoing, clock, unconfirmed),
              destroyConnection: () => void outgoing.destroy(),
              address: findAddress(incoming),
            }
          : {};
        return server.fetch(request, connectionInfo);
      },
      { overrideGlobalObjects: false },
    );
    // A request for another protocol, such as h2c, is answered as a plain request.
    const shouldUpgradeCallback = ({ headers }: IncomingMessage): boolean =>
      upgrade !== undefined && headers.upgrade?.toLowerCase() === 'websocket';
    const httpServer = createHttpServer({ shouldUpgradeCallback }, (incoming, outgoing) => {
      const answerHere = (): void => void answer(incoming, outgoing);
      if (routing === undefined) answerHere();
      else routing.handle(incoming, outgoing, findAddress(incoming), answerHere);
    });
    if (upgrade !== undefined)
      httpServer.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
        const address = findAddress(request);
        const answerHere = (): void => void upgrade({ request, socket, head, address });
        if (routing === undefined) answerHere();
        else routing.handleUpgrade(request, socket, head, address, answerHere);
      });
    return httpServer;
  };
}

async function untilListening(httpServer: HttpServer, listenNow: () => void): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    httpServer.once('error', reject);
    httpServer.once('listening', resolve);
    listenNow();
  });
}

/**
 * Tracks the connections of a server, to close idle ones. Node counts a connection that a client opened ahead and did
 * not use yet as busy, so it would delay the close.
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

  /** Closes connections without a request now, and the others after their last response. */
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
 * Whether a response reached its client. TCP gives no acknowledgement to the application. If the connection closes
 * right after the response was written, delivery is unsure, unless the client asked for the close.
 */
async function trackDelivery(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  clock: Clock,
  unconfirmed: WeakMap<Socket, () => void>,
): Promise<boolean | 'unsure'> {
  // A second request on a connection shows that the client read the previous response.
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
    // Two turns of the event loop let a pending `close` event run first: after a stall of the process, timers run
    // before it.
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
