import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import { importOptional } from '../../core/internal.ts';
import type { Caller } from '../auth/api-keys.ts';
import { assertScope } from '../auth/key-scope.ts';
import { clientNetwork } from '../http/client-address.ts';
import { MissingServerPackageError } from '../http/missing-server-package-error.ts';
import { HttpError, toErrorResponse, toHttpError } from '../http/http-error.ts';
import type { ServerContext } from '../routing/server-context.ts';
import type { AcceptSocket, OpenSocket, SocketRequest, SocketRoute } from './socket-route.ts';

/** Sockets that have not sent their first message, of one address and in all. */
const MAX_NEW_SOCKETS_PER_ADDRESS = 20;
const MAX_NEW_SOCKETS = 1_000;
/** How long a socket that the server closes may take to answer, in milliseconds. */
const CLOSE_TIMEOUT_MS = 5_000;

/** A request to change a connection to a WebSocket. */
export interface UpgradeCall {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** Bytes that came after the request. */
  readonly head: Buffer;
  /** IP address of the client. */
  readonly address: string;
}

export interface LiveEndpointOptions {
  readonly context: ServerContext;
  readonly basePath: string;
  readonly routes: readonly SocketRoute[];
  /** @throws HttpError 403 for a page of another origin */
  readonly checkOrigin: (request: Request) => Promise<void>;
  /** @throws HttpError 401, 429 */
  readonly authenticate: (headers: Headers, address: string) => Promise<Caller>;
  readonly newRequestId: () => string;
  readonly onOpened: (call: {
    readonly requestId: string;
    readonly path: string;
    readonly status: number;
    readonly caller: Caller | undefined;
  }) => void;
  readonly onError: (error: unknown) => void;
}

interface Served {
  readonly route: SocketRoute;
  readonly webSockets: WebSocketServer;
}

/** Serves live sessions over WebSockets. */
export class LiveEndpoint {
  readonly #options: LiveEndpointOptions;
  readonly #served: readonly Served[];
  readonly #sockets = new Set<OpenSocket>();
  /** Sockets that have not sent their first message, by network. */
  readonly #newSockets = new Map<string, number>();

  private constructor(options: LiveEndpointOptions, served: readonly Served[]) {
    this.#options = options;
    this.#served = served;
    options.context.closing.addEventListener('abort', () => this.#close(), { once: true });
  }

  /** @throws MissingServerPackageError if the package `ws` is not installed */
  static async open(options: LiveEndpointOptions): Promise<LiveEndpoint> {
    const { WebSocketServer: Sockets } = await importOptional(
      import('ws'),
      (cause) => new MissingServerPackageError('ws', cause),
    );
    const served = options.routes.map((route) => ({
      route,
      webSockets: new Sockets({
        noServer: true,
        maxPayload: route.messageBytes,
        closeTimeout: CLOSE_TIMEOUT_MS,
        perMessageDeflate: false,
        handleProtocols: () => route.subprotocol ?? false,
      }),
    }));
    return new LiveEndpoint(options, served);
  }

  /** Answers a request for a WebSocket. It never rejects. */
  readonly upgrade = async ({ request, socket, head, address }: UpgradeCall): Promise<void> => {
    const { newRequestId, onError } = this.#options;
    const requestId = newRequestId();
    const ignore = (): void => {};
    // Until the WebSocket has it, an error of the connection would end the process.
    socket.on('error', ignore);
    try {
      const url = toUrl(request);
      const { route, webSockets, ...call } = await this.#check(request, url, address);
      const accept = await route.check(call);
      socket.off('error', ignore);
      webSockets.handleUpgrade(request, socket, head, (webSocket) =>
        this.#accept(webSocket, accept, { path: url.pathname, requestId, address }),
      );
    } catch (error) {
      const httpError = toHttpError(error);
      if (httpError.status >= 500) onError(error);
      await refuse(socket, httpError, requestId);
    }
  };

  /** @throws HttpError for a request that gets no WebSocket */
  async #check(
    request: IncomingMessage,
    url: URL,
    address: string,
  ): Promise<SocketRequest & Pick<Served, 'route' | 'webSockets'>> {
    const { context, basePath, checkOrigin, authenticate } = this.#options;
    if (context.closing.aborted)
      throw new HttpError(503, 'The server is shutting down. Try again.', { retryAfterSeconds: 1 });
    await checkOrigin(new Request(url, { headers: toHeaders(request) }));
    const path = url.pathname.startsWith(`${basePath}/`) ? url.pathname.slice(basePath.length) : '';
    const [found] = this.#served.flatMap((served) => {
      const values = matchPath(served.route.path, path);
      return values === undefined ? [] : [{ ...served, values }];
    });
    if (found === undefined || request.method !== 'GET')
      throw new HttpError(
        404,
        `No WebSocket is at ${url.pathname}. Open ${this.#served.map(({ route }) => route.path).join(' or ')}.`,
      );
    const { route, webSockets, values } = found;
    assertSubprotocol(request, route);
    const ofAddress = this.#newSockets.get(clientNetwork(address)) ?? 0;
    const all = [...this.#newSockets.values()].reduce((sum, count) => sum + count, 0);
    if (ofAddress >= MAX_NEW_SOCKETS_PER_ADDRESS || all >= MAX_NEW_SOCKETS)
      throw new HttpError(
        429,
        'Too many WebSockets have not sent their first message. Send hello, or wait.',
        { retryAfterSeconds: 1 },
      );
    const params = (name: string): string => values.get(name) ?? '';
    return {
      route,
      webSockets,
      url,
      params,
      authenticate: async (key) => {
        const headers = toHeaders(request);
        if (key !== undefined) headers.set('authorization', `Bearer ${key}`);
        const caller = await authenticate(headers, address);
        const scoped = { method: 'GET', path: route.path, scopes: ['full'] } as const;
        if (caller.scope !== undefined) assertScope(caller.scope, scoped, params);
        return caller;
      },
    };
  }

  #accept(
    webSocket: WebSocket,
    accept: AcceptSocket,
    {
      path,
      requestId,
      address,
    }: { readonly path: string; readonly requestId: string; readonly address: string },
  ): void {
    const { context, onOpened, onError } = this.#options;
    const network = clientNetwork(address);
    let isNew = true;
    const noLongerNew = (): void => {
      if (isNew) this.#countNew(network, -1);
      isNew = false;
    };
    this.#countNew(network, 1);
    const socket = accept(webSocket, {
      onOpened: (status, caller) => {
        noLongerNew();
        onOpened({ requestId, path, status, caller });
      },
      onClosed: () => {
        noLongerNew();
        this.#sockets.delete(socket);
      },
      onError,
    });
    this.#sockets.add(socket);
    if (context.closing.aborted) socket.goAway();
  }

  #countNew(network: string, by: number): void {
    const count = (this.#newSockets.get(network) ?? 0) + by;
    if (count === 0) this.#newSockets.delete(network);
    else this.#newSockets.set(network, count);
  }

  #close(): void {
    for (const socket of this.#sockets) socket.goAway();
    for (const { webSockets } of this.#served) webSockets.close();
  }
}

/** The parameters of a path. Undefined if it is not a path of the route. @throws HttpError 404 */
function matchPath(route: string, path: string): ReadonlyMap<string, string> | undefined {
  const names = route.split('/');
  const parts = path.split('/');
  const fits = (name: string, index: number): boolean =>
    name.startsWith('{') ? parts[index] !== '' : parts[index] === name;
  if (names.length !== parts.length || !names.every(fits)) return undefined;
  try {
    return new Map(
      names.flatMap((name, index) =>
        name.startsWith('{') ? [[name.slice(1, -1), decodeURIComponent(parts[index] ?? '')]] : [],
      ),
    );
  } catch (cause) {
    throw new HttpError(404, 'There is no session with this id.', { cause });
  }
}

/** @throws HttpError 400 */
function assertSubprotocol({ headers }: IncomingMessage, { subprotocol }: SocketRoute): void {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',');
  if (subprotocol === undefined || offered.some((one) => one.trim() === subprotocol)) return;
  throw new HttpError(
    400,
    `The WebSocket must offer the subprotocol ${subprotocol}: new WebSocket(url, '${subprotocol}').`,
  );
}

/** @throws HttpError 400 */
function toUrl({ url = '/', headers }: IncomingMessage): URL {
  const parsed = URL.parse(`http://${headers.host ?? ''}${url}`);
  if (parsed === null)
    throw new HttpError(400, 'The Host header is not a valid host name. Correct it.');
  return parsed;
}

function toHeaders({ headers }: IncomingMessage): Headers {
  const names = ['host', 'origin', 'sec-fetch-site', 'authorization', 'x-api-key'];
  return new Headers(
    names.flatMap((name): [string, string][] => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}

/** Answers with an error instead of a WebSocket. */
async function refuse(socket: Duplex, error: HttpError, requestId: string): Promise<void> {
  const response = toErrorResponse(error, requestId);
  const body = await response.text();
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`);
  // A client that does not end its side would keep the connection.
  socket.once('finish', () => socket.destroy());
  socket.end(
    [
      `HTTP/1.1 ${error.status} ${error.type}`,
      ...headers,
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
