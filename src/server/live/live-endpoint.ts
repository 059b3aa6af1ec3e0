import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import { importOptional } from '../../core/internal.ts';
import type { LiveHub } from '../../live/index.ts';
import type { Caller } from '../auth/api-keys.ts';
import { assertScope } from '../auth/key-scope.ts';
import { clientNetwork } from '../http/client-address.ts';
import { MissingServerPackageError } from '../http/missing-server-package-error.ts';
import { HttpError, toErrorResponse, toHttpError } from '../http/http-error.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { SocketCalls } from './socket-calls.ts';
import { LIVE_PROTOCOL } from './live-messages.ts';
import { ClientSocket } from './client-socket.ts';

/** The route of live sessions, for scopes and errors. */
const ROUTE = {
  method: 'GET',
  path: '/v1/sessions/{session_id}/live',
  scopes: ['full'],
} as const;

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
  readonly hub: LiveHub;
  readonly context: ServerContext;
  readonly basePath: string;
  readonly connectionsPerKey: number;
  readonly messageBytes: number;
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

/** Serves live sessions over WebSockets. */
export class LiveEndpoint {
  readonly #options: LiveEndpointOptions;
  readonly #webSockets: WebSocketServer;
  readonly #calls: SocketCalls;
  readonly #sockets = new Set<ClientSocket>();
  /** Sockets that have not sent their first message, by network. */
  readonly #newSockets = new Map<string, number>();

  private constructor(options: LiveEndpointOptions, webSockets: WebSocketServer) {
    this.#options = options;
    this.#webSockets = webSockets;
    this.#calls = new SocketCalls(options);
    options.context.closing.addEventListener('abort', () => this.#close(), { once: true });
  }

  /** @throws MissingServerPackageError if the package `ws` is not installed */
  static async open(options: LiveEndpointOptions): Promise<LiveEndpoint> {
    const { WebSocketServer: Sockets } = await importOptional(
      import('ws'),
      (cause) => new MissingServerPackageError('ws', cause),
    );
    const webSockets = new Sockets({
      noServer: true,
      maxPayload: options.messageBytes,
      closeTimeout: CLOSE_TIMEOUT_MS,
      perMessageDeflate: false,
      handleProtocols: () => LIVE_PROTOCOL,
    });
    return new LiveEndpoint(options, webSockets);
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
      const sessionId = await this.#check(request, url, address);
      socket.off('error', ignore);
      this.#webSockets.handleUpgrade(request, socket, head, (webSocket) =>
        this.#accept(webSocket, { request, requestId, path: url.pathname, sessionId, address }),
      );
    } catch (error) {
      const httpError = toHttpError(error);
      if (httpError.status >= 500) onError(error);
      await refuse(socket, httpError, requestId);
    }
  };

  /** Returns the id of the session. @throws HttpError for a request that gets no WebSocket */
  async #check(request: IncomingMessage, url: URL, address: string): Promise<string> {
    const { context, basePath, checkOrigin } = this.#options;
    if (context.closing.aborted)
      throw new HttpError(503, 'The server is shutting down. Try again.', { retryAfterSeconds: 1 });
    await checkOrigin(new Request(url, { headers: toHeaders(request) }));
    const path = url.pathname.startsWith(`${basePath}/`) ? url.pathname.slice(basePath.length) : '';
    const sessionId = /^\/v1\/sessions\/([^/]+)\/live$/.exec(path)?.[1];
    if (sessionId === undefined || request.method !== 'GET')
      throw new HttpError(404, `No WebSocket is at ${url.pathname}. Open ${ROUTE.path}.`);
    const [parameter] = url.searchParams.keys();
    if (parameter !== undefined)
      throw new HttpError(
        400,
        `query.${parameter.slice(0, 64)}: is unknown. The URL has no parameters: send the key in the first message, because URLs are written to logs.`,
      );
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',');
    if (!offered.some((one) => one.trim() === LIVE_PROTOCOL))
      throw new HttpError(
        400,
        `The WebSocket must offer the subprotocol ${LIVE_PROTOCOL}: new WebSocket(url, '${LIVE_PROTOCOL}').`,
      );
    const ofAddress = this.#newSockets.get(clientNetwork(address)) ?? 0;
    const all = [...this.#newSockets.values()].reduce((sum, count) => sum + count, 0);
    if (ofAddress >= MAX_NEW_SOCKETS_PER_ADDRESS || all >= MAX_NEW_SOCKETS)
      throw new HttpError(
        429,
        'Too many WebSockets have not sent their first message. Send hello, or wait.',
        { retryAfterSeconds: 1 },
      );
    return decodeId(sessionId);
  }

  #accept(
    webSocket: WebSocket,
    {
      request,
      requestId,
      path,
      sessionId,
      address,
    }: {
      readonly request: IncomingMessage;
      readonly requestId: string;
      readonly path: string;
      readonly sessionId: string;
      readonly address: string;
    },
  ): void {
    const { context, authenticate, onOpened, onError } = this.#options;
    const { clock, keys, keepAliveMs, readerTimeoutMs } = context;
    const network = clientNetwork(address);
    let isNew = true;
    const noLongerNew = (): void => {
      if (isNew) this.#countNew(network, -1);
      isNew = false;
    };
    this.#countNew(network, 1);
    const socket = new ClientSocket(webSocket, sessionId, {
      calls: this.#calls,
      clock,
      keepAliveMs,
      readerTimeoutMs,
      authenticate: async (key) => {
        const headers = toHeaders(request);
        if (key !== undefined) headers.set('authorization', `Bearer ${key}`);
        const caller = await authenticate(headers, address);
        if (caller.scope !== undefined)
          assertScope(caller.scope, ROUTE, (name) => (name === 'session_id' ? sessionId : ''));
        return caller;
      },
      isKeyValid: async (caller) => keys.isValid(caller),
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
    this.#calls.close();
    for (const socket of this.#sockets) socket.goAway();
    this.#webSockets.close();
  }
}

/** @throws HttpError 404 */
function decodeId(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new HttpError(404, 'There is no session with this id.', { cause });
  }
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
