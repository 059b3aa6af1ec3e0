import type { Context } from 'hono';
import type { RequestIdVariables } from 'hono/request-id';
import { isPetrichorError } from '../core/index.ts';
import { parseJsonWithSchema } from '../core/validation/parse-with-schema.ts';
import type { Caller } from './auth/api-keys.ts';
import { Authenticator } from './auth/authenticator.ts';
import { assertScope } from './auth/key-scope.ts';
import { addCorsHeaders, preflightResponse } from './http/cors.ts';
import { HttpError, toErrorResponse, toHttpError } from './http/http-error.ts';
import { OriginGuard } from './http/origin-guard.ts';
import { isJsonContentType, parseBody, readQuery, readRequestBody } from './http/request-body.ts';
import type { ConnectionInfo } from './routing/connection-info.ts';
import { emptyObject } from './routing/route.ts';
import type { HttpRoute } from './routing/route.ts';
import type { ServerContext } from './routing/server-context.ts';
import type { ServerOptions } from './server-options.ts';

/** Maximum size of a request body, in bytes. */
export const DEFAULT_BODY_BYTES = 1_048_576;

/** The hono environment of the server. */
export interface ServerEnv {
  Bindings: ConnectionInfo;
  Variables: RequestIdVariables;
}

/**
 * The steps around every route, in this order: origin check, authentication, rate limits, scope, query, body size,
 * content type, body, idempotency. It also converts errors, adds CORS headers, and records metrics and the audit line.
 */
export class RequestPipeline {
  readonly #options: ServerOptions;
  readonly #serverContext: ServerContext;
  readonly #authenticator: Authenticator;
  readonly #originGuard: OriginGuard;
  readonly #bodyBytes: number;

  /** @throws InvalidInputError for an invalid `allowHosts` or `allowOrigins` */
  constructor(options: ServerOptions, serverContext: ServerContext) {
    const { limits = {} } = options;
    const { clock, keys } = serverContext;
    this.#options = options;
    this.#serverContext = serverContext;
    this.#originGuard = new OriginGuard(options);
    this.#authenticator = new Authenticator({
      keys,
      mode: options.keys,
      clock,
      createsPerMinute: limits.createsPerMinute ?? 60,
      requestsPerMinute: limits.requestsPerMinute ?? 600,
      failedKeysPerMinute: limits.failedKeysPerMinute ?? 30,
    });
    this.#bodyBytes = limits.bodyBytes ?? DEFAULT_BODY_BYTES;
  }

  /** Answers a request to a route. Every error becomes a response. */
  async handle(route: HttpRoute, context: Context<ServerEnv>): Promise<Response> {
    const request = context.req.raw;
    const requestId = context.get('requestId');
    let caller: Caller | undefined;
    let response: Response;
    try {
      if (this.#serverContext.closing.aborted)
        throw new HttpError(503, 'The server is shutting down. Try again.', {
          retryAfterSeconds: 1,
        });
      if (this.#serverContext.draining.aborted && !isReading(request))
        throw new HttpError(
          503,
          'The server is about to stop and accepts no more changes. Send the request again: another server accepts it.',
          { retryAfterSeconds: 1 },
        );
      const requiresKey = await this.#authenticator.requiresKey();
      if (!requiresKey) this.#originGuard.check(request);
      caller = await this.#authenticator.authenticate(
        route,
        request.headers,
        context.env.address ?? '',
        requiresKey,
      );
      response = await this.#runRoute(route, context, caller);
      response.headers.set('request-id', requestId);
    } catch (error) {
      const httpError = toHttpError(error);
      // 501: the server says what it does not have, and nothing failed.
      if (httpError.status >= 500 && httpError.status !== 501) this.#options.onError?.(error);
      response = toErrorResponse(httpError, requestId, route.toErrorBody);
    }
    addCorsHeaders(request, response, this.#originGuard);
    this.#recordMetrics(route, response, context.env.delivered);
    // Percent-encoded: a decoded path could contain a line break and forge a line of a log.
    const path = new URL(request.url).pathname;
    this.#audit(route, path, { requestId, caller, status: response.status });
    return response;
  }

  /**
   * While no key is required, rejects requests of web pages from other origins.
   * @throws HttpError 403
   */
  async checkOrigin(request: Request): Promise<void> {
    if (!(await this.#authenticator.requiresKey())) this.#originGuard.check(request);
  }

  /**
   * While no key is required, rejects requests to a host name that is not of this machine. For pages without data.
   * @throws HttpError 403
   */
  async checkHost(request: Request): Promise<void> {
    if (!(await this.#authenticator.requiresKey())) this.#originGuard.checkHost(request);
  }

  /**
   * Rejects a WebSocket of a web page from another origin. Browsers open one to any server, and let the page read it.
   * @throws HttpError 403
   */
  async checkSocketOrigin(request: Request): Promise<void> {
    await this.checkHost(request);
    this.#originGuard.checkOrigin(request);
  }

  /** Authenticates a WebSocket. @throws HttpError 401, 429 */
  async authenticateSocket(headers: Headers, address: string): Promise<Caller> {
    const route = { open: false, creates: false };
    const requiresKey = await this.#authenticator.requiresKey();
    return this.#authenticator.authenticate(route, headers, address, requiresKey);
  }

  /** Writes the audit line of a WebSocket. */
  auditSocket({
    requestId,
    path,
    status,
    caller,
  }: {
    readonly requestId: string;
    readonly path: string;
    readonly status: number;
    readonly caller: Caller | undefined;
  }): void {
    this.#writeAudit('GET', path, { requestId, caller, status });
  }

  /**
   * Answers the request that a browser sends before it calls from a page of another origin.
   * @throws HttpError 403
   */
  async preflight(request: Request): Promise<Response> {
    await this.checkOrigin(request);
    return preflightResponse(request, this.#originGuard);
  }

  async #runRoute(
    route: HttpRoute,
    context: Context<ServerEnv>,
    caller: Caller,
  ): Promise<Response> {
    const request = context.req.raw;
    const { searchParams, pathname, search } = new URL(request.url);
    const params = (name: string): string => context.req.param(name) ?? '';
    if (caller.scope !== undefined && !route.open) assertScope(caller.scope, route, params);
    if (route.writes && this.#options.readOnly === true) throw readOnlyError(route);
    const query = parseJsonWithSchema(route.query, readQuery(searchParams), 'query');
    const { fileType } = route;
    assertFileType(request, fileType);
    // A file is too large to be kept for a retry. The route itself must refuse a repetition.
    const mayHaveBody =
      fileType === undefined && (route.method === 'POST' || route.method === 'PATCH');
    const text = mayHaveBody ? await readRequestBody(request, this.#bodyBytes) : '';
    // Browsers send some other content types to other origins without a preflight request.
    if (text !== '' && !isJsonContentType(request.headers.get('content-type')))
      throw unsupportedMediaType(request.headers.get('content-type'));
    const body =
      fileType === undefined
        ? parseJsonWithSchema(route.body ?? emptyObject, parseBody(text), 'body')
        : undefined;
    const retryCount = parseRetryCount(request.headers.get('x-stainless-retry-count'));
    const clientKey = request.headers.get('idempotency-key') ?? undefined;
    const path = pathname + search;
    const idempotentRequest = this.#serverContext.idempotentRequests.get(
      { keyId: caller.keyId, path, body: text, retryCount, clientKey },
      caller.workspace,
    );
    if (mayHaveBody) {
      await idempotentRequest.read();
      // Without a key, a retry belongs to the latest equal request, so each is stored when it arrives.
      if (clientKey === undefined || !route.storesRequest) await idempotentRequest.claim();
    }
    const destroyConnection = context.env.destroyConnection ?? ((): void => {});
    const call = {
      caller,
      params,
      query,
      body,
      request,
      isKeyValid: async () => this.#serverContext.keys.isValid(caller),
      destroyConnection,
      idempotentRequest,
      retryCount,
    };
    let { delivered } = context.env;
    try {
      const result = await route.run(call);
      return result instanceof Response ? result : Response.json(result);
    } catch (error) {
      // A refused request had no effect, so the next equal one is a new request.
      if (toHttpError(error).status < 500) {
        delivered = Promise.resolve(true);
        await this.#ignoreStoreErrors(async () => idempotentRequest.release());
      }
      throw error;
    } finally {
      void this.#ignoreStoreErrors(async () => {
        const isDelivered = (await delivered) ?? false;
        if (isDelivered !== false) await idempotentRequest.onAnswered(isDelivered);
      });
    }
  }

  async #ignoreStoreErrors(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      // What could not be removed now is removed by a later sweep.
      if (!isPetrichorError(error)) this.#options.onError?.(error);
    }
  }

  #recordMetrics(
    route: HttpRoute,
    { status }: Response,
    delivered: ConnectionInfo['delivered'],
  ): void {
    const { metrics } = this.#options;
    metrics?.countRequest(route.method, status);
    if (!route.streams || status !== 200 || delivered === undefined) return;
    const stopTracking = metrics?.trackReader();
    void delivered.finally(() => stopTracking?.());
  }

  #audit(
    route: HttpRoute,
    path: string,
    {
      requestId,
      caller,
      status,
    }: { readonly requestId: string; readonly caller: Caller | undefined; readonly status: number },
  ): void {
    if (route.method !== 'GET') this.#writeAudit(route.method, path, { requestId, caller, status });
  }

  #writeAudit(
    method: string,
    path: string,
    {
      requestId,
      caller,
      status,
    }: { readonly requestId: string; readonly caller: Caller | undefined; readonly status: number },
  ): void {
    this.#options.audit?.({
      at: this.#serverContext.clock.now(),
      requestId,
      workspace: caller?.workspace ?? '',
      keyId: caller?.keyId ?? '',
      method,
      path,
      status,
    });
  }
}

function readOnlyError({ method, path }: HttpRoute): HttpError {
  return new HttpError(403, `This server is read-only, so it refuses ${method} ${path}.`, {
    details: {
      /**
       * The server was started with the option `readOnly`.
       * @remedy Send the request to a server without it.
       */
      error_code: 'read_only',
    },
  });
}

/** @throws HttpError 415 */
function assertFileType({ headers }: Request, fileType: string | undefined): void {
  const type = headers.get('content-type');
  if (fileType !== undefined && type?.split(';')[0]?.trim().toLowerCase() !== fileType)
    throw unsupportedMediaType(type, fileType);
}

function unsupportedMediaType(type: string | null, expected = 'application/json'): HttpError {
  const actual = type === null ? 'it has none' : `it is ${JSON.stringify(type.slice(0, 128))}`;
  return new HttpError(
    415,
    `content-type: must be ${expected} for a request with a body; ${actual}.`,
    {
      details: {
        /**
         * The body of the request has another content type than the route takes.
         * @remedy Send JSON with the header `content-type: application/json`, and a journal file as `application/x-ndjson`.
         */
        error_code: 'unsupported_media_type',
      },
    },
  );
}

function isReading({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Parses the client's retry count; 0 if the header is missing or invalid. */
function parseRetryCount(header: string | null): number {
  return /^\d{1,9}$/.test(header ?? '') ? Number(header) : 0;
}
