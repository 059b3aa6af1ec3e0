import type { Context } from 'hono';
import {
  checkOptions,
  InvalidInputError,
  isPetrichorError,
  optionTable,
  parseJsonWithSchema,
  safeListener,
} from '../core/index.ts';
import type { OptionNames, OptionTable } from '../core/index.ts';
import { parseOrigins } from '../egress/index.ts';
import type { ManagedRuntime } from '../managed/index.ts';
import { createIdGenerator } from '../managed/catalogs/sortable-id.ts';
import { systemClock } from '../net/index.ts';
import type { Clock } from '../net/index.ts';
import type { Store } from '../store/index.ts';
import { agentRoutes } from './routes/agent-routes.ts';
import { IdempotentResults } from './idempotency/idempotent-results.ts';
import { ApiKeys, DEFAULT_WORKSPACE, ENVIRONMENT_INDEX, readToken } from './auth/api-keys.ts';
import type { Caller } from './auth/api-keys.ts';
import { environmentRoutes } from './routes/environment-routes.ts';
import { eventRoutes } from './routes/event-routes.ts';
import { FailedKeyLimiter } from './auth/failed-key-limiter.ts';
import { IdempotencyKeys } from './idempotency/idempotency-keys.ts';
import { assertScope } from './auth/key-scope.ts';
import { loadServerPackage } from './missing-server-package-error.ts';
import { RateLimiter } from './http/rate-limiter.ts';
import type { Metrics } from './metrics/metrics.ts';
import { healthRoutes } from './routes/health-routes.ts';
import { operatorRoutes } from './routes/operator-routes.ts';
import { OriginGuard } from './http/origin-guard.ts';
import { isJsonContentType, parseBody, readRequestBody, readQuery } from './http/request-body.ts';
import { emptyObject } from './routing/route.ts';
import type { HttpRoute } from './routing/route.ts';
import { SecretBox } from './webhooks/secret-box.ts';
import {
  DEFAULT_RETRY_WINDOW_MS,
  RequestDeduplication,
} from './idempotency/request-deduplication.ts';
import type { ServerContext } from './routing/server-context.ts';
import { sessionControlRoutes } from './routes/session-control-routes.ts';
import { sessionRoutes } from './routes/session-routes.ts';
import { HttpError, toErrorResponse, toHttpError } from './http/http-error.ts';
import { EventProjectionCache } from './wire/event-projection-cache.ts';
import { WorkQueue } from './workers/work-queue.ts';
import { createWebhookSender } from './webhooks/webhook-sender.ts';
import type { WebhookRules } from './webhooks/webhook-sender.ts';
import { threadRoutes } from './routes/thread-routes.ts';
import { WebhookOutbox } from './webhooks/webhook-outbox.ts';
import { webhookRoutes } from './routes/webhook-routes.ts';
import { workRoutes } from './routes/work-routes.ts';
import { WorkspaceIndex } from './auth/workspace-index.ts';

/**
 * How much callers may ask for: a larger body is answered with 413, more requests of a key with 429 and when to try
 * again.
 */
export interface ServerLimits {
  /** Of a request's body; 1 MB unless said. */
  readonly bodyBytes?: number;
  /** For each key: what makes an agent, environment or session; 60. */
  readonly createsPerMinute?: number;
  /** For each key: everything else; 600. */
  readonly requestsPerMinute?: number;
  /**
   * For each address: keys that are not valid. Default: 30. Above it, requests of that address get 429 until a minute
   * has room again, except with keys that were valid lately.
   */
  readonly failedKeysPerMinute?: number;
}

/**
 * What a server serves, who may call it, and how long it waits for readers and workers. `runtime` and `store` stay open
 * when it closes.
 */
export interface ServerOptions {
  readonly runtime: ManagedRuntime;
  /** The store that the runtime works on: keys, environments and what belongs to whom are kept there too. */
  readonly store: Store;
  /**
   * `required`: every call brings a key of this store. `off`: anybody may, in the workspace `default`. `when-created`:
   * anybody may until the store has its first key, and nobody without one from then on.
   */
  readonly keys: 'required' | 'when-created' | 'off';
  readonly limits?: ServerLimits;
  /**
   * Origins whose pages may call, for example `https://app.example`. Default: none. While no key is needed, requests of
   * other pages are refused with 403; with keys, browsers do not show them the reply.
   */
  readonly allowOrigins?: readonly string[];
  /**
   * Names that requests may give as `Host` while no key is needed, beside those of this machine (`localhost`,
   * `127.0.0.1`, `[::1]`): `agents.internal`, `*.internal`. Default: none. With keys every name is accepted.
   */
  readonly allowHosts?: readonly string[];
  /** A comment on a silent stream after so many milliseconds; 15,000. */
  readonly keepAliveMs?: number;
  /** A reader of a stream that takes nothing for so long is let go; 30,000 milliseconds. */
  readonly readerTimeoutMs?: number;
  /**
   * A request that says it is a retry (`X-Stainless-Retry-Count`) and has no `Idempotency-Key` counts as the equal
   * request that was answered at most so many milliseconds ago: behind a proxy nobody knows whether that reply arrived.
   * The price: a deliberate equal request whose first try was lost counts once. 0: only a broken connection makes a
   * reply count as lost. Default: 60,000.
   */
  readonly retryWindowMs?: number;
  /** How long a worker keeps a session without a word of it; 60,000 milliseconds. */
  readonly leaseMs?: number;
  /**
   * Origins that callers may name as the `base_url` of a model: `http://127.0.0.1:11434`, or `https://*.example.com` for
   * public addresses with TLS. The runtime must list them too. Default: none.
   */
  readonly modelOrigins?: readonly string[];
  /** Where webhooks may be; public addresses only, with TLS, unless said. */
  readonly webhooks?: WebhookRules;
  /**
   * Encrypts the secrets of webhooks in the store: at least 32 random characters. Several, separated by commas, replace
   * one another: the first encrypts, all decrypt. A function is called when the key is first needed. Default: none, and
   * webhooks cannot be made, except with a store that ends with the process.
   */
  readonly secretKey?: string | (() => string);
  readonly clock?: Clock;
  /** Where all addresses begin: `/agents`, say. Nothing unless said. */
  readonly basePath?: string;
  /** Answers GET /metrics. Its `observe` is to be an observer of the runtime. */
  readonly metrics?: Metrics;
  /** Hears of each call that may have changed something. */
  readonly audit?: (line: AuditLine) => void;
  /** Hears what went wrong here, which no client is told. */
  readonly onError?: (error: unknown) => void;
}

/** The options of `createServer`. */
export const SERVER_OPTIONS: OptionTable = optionTable<ServerOptions>('createServer', {
  retryWindowMs: true,
  secretKey: true,
  runtime: true,
  store: true,
  keys: true,
  limits: {
    bodyBytes: true,
    createsPerMinute: true,
    requestsPerMinute: true,
    failedKeysPerMinute: true,
  } satisfies OptionNames<ServerLimits>,
  allowOrigins: true,
  allowHosts: true,
  keepAliveMs: true,
  readerTimeoutMs: true,
  leaseMs: true,
  modelOrigins: true,
  webhooks: { allowHosts: true, resolve: true } satisfies OptionNames<WebhookRules>,
  clock: true,
  basePath: true,
  metrics: true,
  audit: true,
  onError: true,
});

/** Who did what, and what became of it. It holds no secret and nothing of what was said. */
export interface AuditLine {
  readonly at: number;
  readonly requestId: string;
  readonly workspace: string;
  readonly keyId: string;
  readonly method: string;
  /** As it was sent, percent-encoded, without the query. It holds no space and no control character. */
  readonly path: string;
  readonly status: number;
}

/** What the place where a request came in knows of it. */
export interface ConnectionInfo {
  /**
   * Resolves when the reply has been written, with whether it reached the client; `unsure` when its connection ended at
   * once after it.
   */
  readonly delivered?: Promise<boolean | 'unsure'>;
  /** Cuts its connection, whatever was written to it. */
  readonly destroyConnection?: () => void;
  /** The network address of the client. Callers without one share the limit for keys that are not valid. */
  readonly address?: string;
}

/** The server as a function: from a web-standard request to its response. */
export interface Server {
  readonly fetch: (request: Request, connectionInfo?: ConnectionInfo) => Promise<Response>;
  readonly keys: ApiKeys;
  /** Ends all streams, so that whoever reads one can go on from where it was. Requests are answered with 503 from then on. */
  readonly close: () => Promise<void>;
}

const MEGABYTE = 1_048_576;
/** How often what nobody asks for again is forgotten. */
const SWEEP_MS = 60 * 60_000;
/** Each request leaves a document for a minute or more: they are removed more often. */
const DEDUPLICATION_SWEEP_MS = 15 * 60_000;

/**
 * The managed runtime over HTTP.
 * @throws MissingServerPackageError when `hono` is not installed; InvalidInputError for a list of origins or
 *   hosts, and for a limit
 */
export async function createServer(serverOptions: ServerOptions): Promise<Server> {
  checkOptions(SERVER_OPTIONS, serverOptions);
  const options = { ...serverOptions, onError: safeListener('onError', serverOptions.onError) };
  const { Hono } = await loadServerPackage('hono', import('hono'));
  const {
    runtime,
    store,
    clock = systemClock,
    keepAliveMs = 15_000,
    readerTimeoutMs = 30_000,
    basePath = '',
  } = options;
  parseOrigins(options.modelOrigins ?? [], 'modelOrigins');
  checkLimits(options.limits);
  const newId = createIdGenerator(clock);
  const closing = new AbortController();
  const keys = new ApiKeys(store, clock);
  const serverContext: ServerContext = {
    runtime,
    store,
    clock,
    keys,
    newId,
    agents: new WorkspaceIndex(store, 'workspace-agent'),
    environments: new WorkspaceIndex(store, ENVIRONMENT_INDEX),
    sessions: new WorkspaceIndex(store, 'workspace-session'),
    idempotentResults: new IdempotentResults(store, clock),
    projections: new EventProjectionCache(),
    work: new WorkQueue({
      documents: store,
      runtime,
      keys,
      clock,
      newId,
      leaseMs: options.leaseMs ?? 60_000,
    }),
    webhooks: new WebhookOutbox({
      store,
      runtime,
      clock,
      sender: createWebhookSender(options.webhooks),
      secrets: new SecretBox(options.secretKey, { isPersistent: store.durability !== 'process' }),
      onError: options.onError,
    }),
    modelOrigins: options.modelOrigins ?? [],
    closing: closing.signal,
    keepAliveMs,
    readerTimeoutMs,
  };
  const pipeline = new RequestPipeline(options, serverContext);
  let cancelSweep = (): void => {};
  const sweep = async (): Promise<void> => {
    await Promise.all([
      pipeline.sweep(),
      serverContext.idempotentResults.sweep(),
      serverContext.keys.sweep(),
      serverContext.work.sweep(),
    ]);
  };
  const scheduleSweep = (): void => {
    if (closing.signal.aborted) return;
    cancelSweep = clock.at(clock.now() + SWEEP_MS, () => {
      void sweep().catch(options.onError).finally(scheduleSweep);
    });
  };
  await sweep();
  scheduleSweep();
  let cancelDeduplicationSweep = (): void => {};
  const scheduleDeduplicationSweep = (): void => {
    if (closing.signal.aborted) return;
    cancelDeduplicationSweep = clock.at(clock.now() + DEDUPLICATION_SWEEP_MS, () => {
      void pipeline.sweepDeduplication().catch(options.onError).finally(scheduleDeduplicationSweep);
    });
  };
  await pipeline.sweepDeduplication();
  scheduleDeduplicationSweep();
  await serverContext.webhooks.start();
  const app = new Hono<{ Bindings: ConnectionInfo }>({ strict: false }).basePath(basePath);
  const apiRoutes = [
    ...agentRoutes(serverContext),
    ...environmentRoutes(serverContext),
    ...sessionRoutes(serverContext),
    ...sessionControlRoutes(serverContext),
    ...eventRoutes(serverContext),
    ...threadRoutes(serverContext),
    ...workRoutes(serverContext),
    ...webhookRoutes(serverContext),
    ...operatorRoutes(serverContext),
  ];
  const routes = [...apiRoutes, ...healthRoutes(serverContext, apiRoutes, options.metrics)];
  for (const route of routes) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    app.on(route.method, path, async (context) => pipeline.handle(route, context));
  }
  app.options('*', async (context) => pipeline.preflight(context.req.raw));
  app.notFound(async (context) => {
    const { method, path } = context.req;
    await pipeline.checkOrigin(context.req.raw);
    return toErrorResponse(
      new HttpError(404, `There is no ${method} ${path} here: GET /openapi.json lists what is.`),
      newRequestId(),
    );
  });
  app.onError((error) => toErrorResponse(toHttpError(error), newRequestId()));
  return {
    fetch: async (request, connectionInfo = {}) =>
      // A Host such as 1.2.3.256 is no host of a URL.
      URL.canParse(request.url)
        ? app.fetch(request, connectionInfo)
        : toErrorResponse(
            new HttpError(400, 'The Host of this request is not that of a URL: correct it.'),
            newRequestId(),
          ),
    keys,
    close: async () => {
      cancelSweep();
      cancelDeduplicationSweep();
      closing.abort();
      await serverContext.webhooks.close();
    },
  };
}

/** @throws InvalidInputError for a limit that would refuse every request, or none */
function checkLimits(limits: ServerLimits = {}): void {
  for (const [name, limit] of Object.entries(limits)) {
    if (limit === undefined || (Number.isSafeInteger(limit) && limit > 0)) continue;
    throw new InvalidInputError(
      `limits.${name}`,
      `must be a whole number above 0; it is ${String(limit)}.`,
    );
  }
}

/** One request as it may be repeated. */
interface IdempotentRequest {
  /** The same for every repetition. */
  readonly key: string;
  /** Told when the request was refused. */
  readonly release: () => Promise<void>;
  /** Told what became of the reply. */
  readonly replied: (isDelivered: boolean | 'unsure' | undefined) => Promise<void>;
}

const NOT_IDEMPOTENT: IdempotentRequest = {
  key: '',
  release: async () => {},
  replied: async () => {},
};

/** What stands before every route: who asks, how much, and what becomes of errors. */
class RequestPipeline {
  readonly #options: ServerOptions;
  readonly #serverContext: ServerContext;
  readonly #deduplication: RequestDeduplication;
  readonly #idempotencyKeys: IdempotencyKeys;
  readonly #createLimiter: RateLimiter;
  readonly #requestLimiter: RateLimiter;
  readonly #bodyBytes: number;
  readonly #originGuard: OriginGuard;
  readonly #failedKeyLimiter: FailedKeyLimiter;
  #hasAnyKey = false;

  constructor(options: ServerOptions, serverContext: ServerContext) {
    const { bodyBytes, createsPerMinute, requestsPerMinute, failedKeysPerMinute } =
      options.limits ?? {};
    this.#options = options;
    this.#serverContext = serverContext;
    this.#deduplication = new RequestDeduplication(
      serverContext.store,
      serverContext.clock,
      options.retryWindowMs ?? DEFAULT_RETRY_WINDOW_MS,
    );
    this.#idempotencyKeys = new IdempotencyKeys(serverContext.store, serverContext.clock);
    this.#createLimiter = new RateLimiter(createsPerMinute ?? 60, serverContext.clock);
    this.#requestLimiter = new RateLimiter(requestsPerMinute ?? 600, serverContext.clock);
    this.#bodyBytes = bodyBytes ?? MEGABYTE;
    this.#originGuard = new OriginGuard(options);
    this.#failedKeyLimiter = new FailedKeyLimiter(failedKeysPerMinute ?? 30, serverContext.clock);
  }

  async sweep(): Promise<void> {
    await this.#idempotencyKeys.sweep();
  }

  /** Forgets equal requests that no retry can follow any more. */
  async sweepDeduplication(): Promise<void> {
    await this.#deduplication.sweep();
  }

  async handle(
    route: HttpRoute,
    context: Context<{ Bindings: ConnectionInfo }>,
  ): Promise<Response> {
    const requestId = newRequestId();
    let caller: Caller | undefined;
    let response: Response;
    try {
      if (this.#serverContext.closing.aborted)
        throw new HttpError(503, 'The server is about to stop: try again.', {
          retryAfterSeconds: 1,
        });
      await this.checkOrigin(context.req.raw);
      caller = await this.#authenticate(route, context.req.raw, context.env.address ?? '');
      response = await this.#runRoute(route, context, caller);
      response.headers.set('request-id', requestId);
    } catch (error) {
      const httpError = toHttpError(error);
      if (httpError.status >= 500) this.#options.onError?.(error);
      response = toErrorResponse(httpError, requestId);
    }
    this.#allowOrigin(context.req.raw, response);
    this.#recordMetrics(route, response, context.env.delivered);
    // As it came, percent-encoded: decoded, it could end a line of a log and begin another.
    const path = new URL(context.req.raw.url).pathname;
    this.#audit(route, path, { requestId, caller, status: response.status });
    return response;
  }

  /** A request without a key must not be that of a foreign web page. @throws HttpError 403 */
  async checkOrigin(request: Request): Promise<void> {
    if (!(await this.#requiresKey())) this.#originGuard.check(request);
  }

  /** What a browser asks before it calls from a page of another origin. @throws HttpError 403 */
  async preflight(request: Request): Promise<Response> {
    await this.checkOrigin(request);
    const { headers } = request;
    const origin = headers.get('origin') ?? '';
    if (!this.#originGuard.allowsOrigin(origin)) return new Response(null, { status: 403 });
    return new Response(null, {
      status: 204,
      headers: {
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, POST, DELETE',
        'access-control-allow-headers': headers.get('access-control-request-headers') ?? '*',
        'access-control-max-age': '600',
        vary: 'origin',
      },
    });
  }

  async #authenticate(route: HttpRoute, request: Request, address: string): Promise<Caller> {
    if (route.open) return { workspace: DEFAULT_WORKSPACE, keyId: '' };
    const isOpen = !(await this.#requiresKey());
    const caller: Caller =
      isOpen && readToken(request.headers)?.startsWith('ptk_') !== true
        ? { workspace: DEFAULT_WORKSPACE, keyId: 'local' }
        : await this.#authenticateKey(readToken(request.headers), address);
    const limiter = route.creates ? this.#createLimiter : this.#requestLimiter;
    const seconds = limiter.take(caller.keyId);
    if (seconds > 0)
      throw new HttpError(429, `Too many requests with this key: wait ${seconds} s.`, {
        retryAfterSeconds: seconds,
      });
    return caller;
  }

  /** @throws HttpError 401, and 429 for an address that tried too many keys that are not valid */
  async #authenticateKey(token: string | undefined, address: string): Promise<Caller> {
    if (token !== undefined) this.#failedKeyLimiter.check(address, token);
    try {
      const caller = await this.#serverContext.keys.authenticate(token);
      if (token !== undefined) this.#failedKeyLimiter.recordSuccess(token);
      return caller;
    } catch (error) {
      const isWrong = error instanceof HttpError && error.status === 401;
      // Without a key nothing was tried.
      if (isWrong && token !== undefined) this.#failedKeyLimiter.recordFailure(address);
      throw error;
    }
  }

  /** A key that was made is asked for, also when it was the only one and is revoked. */
  async #requiresKey(): Promise<boolean> {
    if (this.#options.keys === 'when-created')
      this.#hasAnyKey ||= await this.#serverContext.keys.hasAnyKey();
    return this.#options.keys === 'required' || this.#hasAnyKey;
  }

  async #runRoute(
    route: HttpRoute,
    context: Context<{ Bindings: ConnectionInfo }>,
    caller: Caller,
  ): Promise<Response> {
    const request = context.req.raw;
    const { searchParams, pathname, search } = new URL(request.url);
    const params = (name: string): string => context.req.param(name) ?? '';
    if (caller.scope !== undefined && !route.open) assertScope(caller.scope, route, params);
    const query = parseJsonWithSchema(route.query, readQuery(searchParams), 'query');
    const text = route.method === 'POST' ? await readRequestBody(request, this.#bodyBytes) : '';
    // A page may send any other type to another origin without being asked first.
    if (text !== '' && !isJsonContentType(request.headers.get('content-type')))
      throw unsupportedMediaType(request.headers.get('content-type'));
    const body = parseJsonWithSchema(route.body ?? emptyObject, parseBody(text), 'body');
    const retryCount = parseRetryCount(request.headers.get('x-stainless-retry-count'));
    const sentRequest = { keyId: caller.keyId, path: pathname + search, body: text };
    const idempotentRequest =
      route.method === 'POST'
        ? await this.#identifyRequest(
            sentRequest,
            retryCount,
            request.headers.get('idempotency-key') ?? undefined,
          )
        : NOT_IDEMPOTENT;
    const destroyConnection = context.env.destroyConnection ?? ((): void => {});
    const call = {
      caller,
      params,
      query,
      body,
      request,
      destroyConnection,
      idempotencyKey: idempotentRequest.key,
      retryCount,
    };
    let { delivered } = context.env;
    try {
      const result = await route.run(call);
      return result instanceof Response ? result : Response.json(result);
    } catch (error) {
      // Refused, it is not tried again.
      if (toHttpError(error).status < 500) {
        delivered = Promise.resolve(true);
        await this.#ignoreStoreErrors(idempotentRequest.release);
      }
      throw error;
    } finally {
      void this.#ignoreStoreErrors(async () => idempotentRequest.replied(await delivered));
    }
  }

  /** What the request belongs to: a key of its client's goes before all counting. @throws HttpError 409 */
  async #identifyRequest(
    request: { readonly keyId: string; readonly path: string; readonly body: string },
    retryCount: number,
    clientKey: string | undefined,
  ): Promise<IdempotentRequest> {
    if (clientKey !== undefined) {
      const keyedRequest = { ...request, clientKey };
      const { idempotencyKey, isNew } = await this.#idempotencyKeys.claim(keyedRequest);
      const release = async (): Promise<void> =>
        isNew ? this.#idempotencyKeys.release(keyedRequest) : undefined;
      return { ...NOT_IDEMPOTENT, key: idempotencyKey, release };
    }
    const { key, documentId } = await this.#deduplication.acquire({ ...request, retryCount });
    const replied = async (isDelivered: boolean | 'unsure' | undefined): Promise<void> => {
      if (isDelivered === true || isDelivered === 'unsure')
        await this.#deduplication.replyWritten(documentId, key, isDelivered === 'unsure');
    };
    const release = async (): Promise<void> => this.#deduplication.release(documentId, key);
    return { key, release, replied };
  }

  async #ignoreStoreErrors(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      // Not forgotten now, it is forgotten when it is old.
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

  #allowOrigin({ headers }: Request, response: Response): void {
    const origin = headers.get('origin');
    if (origin === null || !this.#originGuard.allowsOrigin(origin)) return;
    response.headers.set('access-control-allow-origin', origin);
    response.headers.set('access-control-expose-headers', 'request-id, retry-after');
    response.headers.append('vary', 'origin');
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
    if (route.method === 'GET') return;
    this.#options.audit?.({
      at: this.#serverContext.clock.now(),
      requestId,
      workspace: caller?.workspace ?? '',
      keyId: caller?.keyId ?? '',
      method: route.method,
      path,
      status,
    });
  }
}

function unsupportedMediaType(type: string | null): HttpError {
  const actual = type === null ? 'it has none' : `it is ${JSON.stringify(type.slice(0, 128))}`;
  return new HttpError(
    415,
    `content-type: must be application/json for a request with a body; ${actual}.`,
    { details: { error_code: 'unsupported_media_type' } },
  );
}

/** How often a client says that it has tried before; 0 for what is no count. */
function parseRetryCount(header: string | null): number {
  return /^\d{1,9}$/.test(header ?? '') ? Number(header) : 0;
}

function newRequestId(): string {
  return `req_${globalThis.crypto.randomUUID().replaceAll('-', '')}`;
}
