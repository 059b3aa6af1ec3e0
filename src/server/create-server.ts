import type { Context } from 'hono';
import {
  checkOptions,
  InvalidInputError,
  isPetrichorError,
  optionTable,
  parseJson,
  safeListener,
} from '../core/index.ts';
import type { OptionNames, OptionTable } from '../core/index.ts';
import { parseOrigins } from '../egress/index.ts';
import type { ManagedRuntime } from '../managed/index.ts';
import { sortableIds } from '../managed/sortable-id.ts';
import { systemClock } from '../net/index.ts';
import type { Clock } from '../net/index.ts';
import type { Store } from '../store/index.ts';
import { agentRoutes } from './agent-routes.ts';
import { Attempts } from './attempts.ts';
import { ApiKeys, DEFAULT_WORKSPACE, ENVIRONMENTS, tokenOf } from './api-keys.ts';
import type { Caller } from './api-keys.ts';
import { environmentRoutes } from './environment-routes.ts';
import { eventRoutes } from './event-routes.ts';
import { FailedKeys } from './failed-keys.ts';
import { IdempotencyKeys } from './idempotency-keys.ts';
import { assertScope } from './key-scope.ts';
import { installedForServer } from './missing-server-package-error.ts';
import { RateLimiter } from './rate-limiter.ts';
import type { Metrics } from './metrics.ts';
import { operationsRoutes } from './operations-routes.ts';
import { operatorRoutes } from './operator-routes.ts';
import { PageGuard } from './page-guard.ts';
import { isJsonType, parseBody, readBody, readQuery } from './read-body.ts';
import { nothing } from './route.ts';
import type { Route } from './route.ts';
import { SecretBox } from './secret-box.ts';
import { DEFAULT_RETRY_WINDOW_MS, SendRegister } from './send-register.ts';
import type { ServerParts } from './server-parts.ts';
import { sessionControlRoutes } from './session-control-routes.ts';
import { sessionRoutes } from './session-routes.ts';
import { WireError, toErrorResponse, toWireError } from './wire-error.ts';
import { WireFaces } from './wire-faces.ts';
import { WorkQueue } from './work-queue.ts';
import { postWebhook } from './post-webhook.ts';
import type { WebhookRules } from './post-webhook.ts';
import { threadRoutes } from './thread-routes.ts';
import { WebhookOutbox } from './webhook-outbox.ts';
import { webhookRoutes } from './webhook-routes.ts';
import { workRoutes } from './work-routes.ts';
import { WorkspaceIndex } from './workspace-index.ts';

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
   * `required`: every call brings a key of this store. `off`: anybody may, in the workspace `default`. `as-made`:
   * anybody may until the store has its first key, and nobody without one from then on.
   */
  readonly keys: 'required' | 'as-made' | 'off';
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
  readonly stallMs?: number;
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
  stallMs: true,
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
export interface RequestFacts {
  /**
   * Resolves when the reply has been written, with whether it reached the client; `unsure` when its connection ended at
   * once after it.
   */
  readonly delivered?: Promise<boolean | 'unsure'>;
  /** Cuts its connection, whatever was written to it. */
  readonly cut?: () => void;
  /** The network address of the client. Callers without one share the limit for keys that are not valid. */
  readonly address?: string;
}

/** The server as a function: from a web-standard request to its response. */
export interface Server {
  readonly fetch: (request: Request, facts?: RequestFacts) => Promise<Response>;
  readonly keys: ApiKeys;
  /** Ends all streams, so that whoever reads one can go on from where it was. Requests are answered with 503 from then on. */
  readonly close: () => Promise<void>;
}

const MEGABYTE = 1_048_576;
/** How often what nobody asks for again is forgotten. */
const SWEEP_MS = 60 * 60_000;
/** Each request leaves a document for a minute or more: they are removed more often. */
const REGISTER_SWEEP_MS = 15 * 60_000;

/**
 * The managed runtime over HTTP.
 * @throws MissingServerPackageError when `hono` is not installed; InvalidInputError for a list of origins or
 *   hosts, and for a limit
 */
export async function createServer(given: ServerOptions): Promise<Server> {
  checkOptions(SERVER_OPTIONS, given);
  const options = { ...given, onError: safeListener('onError', given.onError) };
  const { Hono } = await installedForServer('hono', import('hono'));
  const {
    runtime,
    store,
    clock = systemClock,
    keepAliveMs = 15_000,
    stallMs = 30_000,
    basePath = '',
  } = options;
  parseOrigins(options.modelOrigins ?? [], 'modelOrigins');
  checkLimits(options.limits);
  const newId = sortableIds(clock);
  const closing = new AbortController();
  const keys = new ApiKeys(store, clock);
  const parts: ServerParts = {
    runtime,
    store,
    clock,
    keys,
    newId,
    agents: new WorkspaceIndex(store, 'workspace-agent'),
    environments: new WorkspaceIndex(store, ENVIRONMENTS),
    sessions: new WorkspaceIndex(store, 'workspace-session'),
    attempts: new Attempts(store, clock),
    faces: new WireFaces(),
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
      post: postWebhook(options.webhooks),
      secrets: new SecretBox(options.secretKey, { isKept: store.durability !== 'process' }),
      onError: options.onError,
    }),
    modelOrigins: options.modelOrigins ?? [],
    closing: closing.signal,
    keepAliveMs,
    stallMs,
  };
  const gate = new Gate(options, parts);
  let cancelSweep = (): void => {};
  const sweep = async (): Promise<void> => {
    await Promise.all([
      gate.sweep(),
      parts.attempts.sweep(),
      parts.keys.sweep(),
      parts.work.sweep(),
    ]);
  };
  const sweepLater = (): void => {
    if (closing.signal.aborted) return;
    cancelSweep = clock.at(clock.now() + SWEEP_MS, () => {
      void sweep().catch(options.onError).finally(sweepLater);
    });
  };
  await sweep();
  sweepLater();
  let cancelRegisterSweep = (): void => {};
  const sweepRegisterLater = (): void => {
    if (closing.signal.aborted) return;
    cancelRegisterSweep = clock.at(clock.now() + REGISTER_SWEEP_MS, () => {
      void gate.sweepRegister().catch(options.onError).finally(sweepRegisterLater);
    });
  };
  await gate.sweepRegister();
  sweepRegisterLater();
  await parts.webhooks.start();
  const app = new Hono<{ Bindings: RequestFacts }>({ strict: false }).basePath(basePath);
  const served = [
    ...agentRoutes(parts),
    ...environmentRoutes(parts),
    ...sessionRoutes(parts),
    ...sessionControlRoutes(parts),
    ...eventRoutes(parts),
    ...threadRoutes(parts),
    ...workRoutes(parts),
    ...webhookRoutes(parts),
    ...operatorRoutes(parts),
  ];
  const routes = [...served, ...operationsRoutes(parts, served, options.metrics)];
  for (const route of routes) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    app.on(route.method, path, async (context) => gate.answer(route, context));
  }
  app.options('*', async (context) => gate.preflight(context.req.raw));
  app.notFound(async (context) => {
    const { method, path } = context.req;
    await gate.checkPage(context.req.raw);
    return toErrorResponse(
      new WireError(404, `There is no ${method} ${path} here: GET /openapi.json lists what is.`),
      newRequestId(),
    );
  });
  app.onError((error) => toErrorResponse(toWireError(error), newRequestId()));
  return {
    fetch: async (request, facts = {}) =>
      // A Host such as 1.2.3.256 is no host of a URL.
      URL.canParse(request.url)
        ? app.fetch(request, facts)
        : toErrorResponse(
            new WireError(400, 'The Host of this request is not that of a URL: correct it.'),
            newRequestId(),
          ),
    keys,
    close: async () => {
      cancelSweep();
      cancelRegisterSweep();
      closing.abort();
      await parts.webhooks.close();
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
interface Attempt {
  /** The same for every repetition. */
  readonly key: string;
  /** Told when the request was refused. */
  readonly refused: () => Promise<void>;
  /** Told what became of the reply. */
  readonly settle: (isThere: boolean | 'unsure' | undefined) => Promise<void>;
}

const NO_ATTEMPT: Attempt = { key: '', refused: async () => {}, settle: async () => {} };

/** What stands before every route: who asks, how much, and what becomes of errors. */
class Gate {
  readonly #options: ServerOptions;
  readonly #parts: ServerParts;
  readonly #register: SendRegister;
  readonly #keyed: IdempotencyKeys;
  readonly #creates: RateLimiter;
  readonly #requests: RateLimiter;
  readonly #bodyBytes: number;
  readonly #pages: PageGuard;
  readonly #failedKeys: FailedKeys;
  #hasKeys = false;

  constructor(options: ServerOptions, parts: ServerParts) {
    const { bodyBytes, createsPerMinute, requestsPerMinute, failedKeysPerMinute } =
      options.limits ?? {};
    this.#options = options;
    this.#parts = parts;
    this.#register = new SendRegister(
      parts.store,
      parts.clock,
      options.retryWindowMs ?? DEFAULT_RETRY_WINDOW_MS,
    );
    this.#keyed = new IdempotencyKeys(parts.store, parts.clock);
    this.#creates = new RateLimiter(createsPerMinute ?? 60, parts.clock);
    this.#requests = new RateLimiter(requestsPerMinute ?? 600, parts.clock);
    this.#bodyBytes = bodyBytes ?? MEGABYTE;
    this.#pages = new PageGuard(options);
    this.#failedKeys = new FailedKeys(failedKeysPerMinute ?? 30, parts.clock);
  }

  async sweep(): Promise<void> {
    await this.#keyed.sweep();
  }

  /** Forgets equal requests that no retry can follow any more. */
  async sweepRegister(): Promise<void> {
    await this.#register.sweep();
  }

  async answer(route: Route, context: Context<{ Bindings: RequestFacts }>): Promise<Response> {
    const requestId = newRequestId();
    let caller: Caller | undefined;
    let response: Response;
    try {
      if (this.#parts.closing.aborted)
        throw new WireError(503, 'The server is about to stop: try again.', {
          retryAfterSeconds: 1,
        });
      await this.checkPage(context.req.raw);
      caller = await this.#caller(route, context.req.raw, context.env.address ?? '');
      response = await this.#run(route, context, caller);
      response.headers.set('request-id', requestId);
    } catch (error) {
      const told = toWireError(error);
      if (told.status >= 500) this.#options.onError?.(error);
      response = toErrorResponse(told, requestId);
    }
    this.#allowOrigin(context.req.raw, response);
    this.#count(route, response, context.env.delivered);
    // As it came, percent-encoded: decoded, it could end a line of a log and begin another.
    const path = new URL(context.req.raw.url).pathname;
    this.#audit(route, path, { requestId, caller, status: response.status });
    return response;
  }

  /** A request without a key must not be that of a foreign web page. @throws WireError 403 */
  async checkPage(request: Request): Promise<void> {
    if (!(await this.#needsKey())) this.#pages.check(request);
  }

  /** What a browser asks before it calls from a page of another origin. @throws WireError 403 */
  async preflight(request: Request): Promise<Response> {
    await this.checkPage(request);
    const { headers } = request;
    const origin = headers.get('origin') ?? '';
    if (!this.#pages.allowsOrigin(origin)) return new Response(null, { status: 403 });
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

  async #caller(route: Route, request: Request, address: string): Promise<Caller> {
    if (route.open) return { workspace: DEFAULT_WORKSPACE, keyId: '' };
    const isOpen = !(await this.#needsKey());
    const caller: Caller =
      isOpen && tokenOf(request.headers)?.startsWith('ptk_') !== true
        ? { workspace: DEFAULT_WORKSPACE, keyId: 'local' }
        : await this.#callerWithKey(tokenOf(request.headers), address);
    const limiter = route.creates ? this.#creates : this.#requests;
    const seconds = limiter.take(caller.keyId);
    if (seconds > 0)
      throw new WireError(429, `Too many requests with this key: wait ${seconds} s.`, {
        retryAfterSeconds: seconds,
      });
    return caller;
  }

  /** @throws WireError 401, and 429 for an address that tried too many keys that are not valid */
  async #callerWithKey(token: string | undefined, address: string): Promise<Caller> {
    if (token !== undefined) this.#failedKeys.check(address, token);
    try {
      const caller = await this.#parts.keys.callerOf(token);
      if (token !== undefined) this.#failedKeys.succeeded(token);
      return caller;
    } catch (error) {
      const isWrong = error instanceof WireError && error.status === 401;
      // Without a key nothing was tried.
      if (isWrong && token !== undefined) this.#failedKeys.failed(address);
      throw error;
    }
  }

  /** A key that was made is asked for, also when it was the only one and is revoked. */
  async #needsKey(): Promise<boolean> {
    if (this.#options.keys === 'as-made') this.#hasKeys ||= await this.#parts.keys.wereMade();
    return this.#options.keys === 'required' || this.#hasKeys;
  }

  async #run(
    route: Route,
    context: Context<{ Bindings: RequestFacts }>,
    caller: Caller,
  ): Promise<Response> {
    const request = context.req.raw;
    const { searchParams, pathname, search } = new URL(request.url);
    const params = (name: string): string => context.req.param(name) ?? '';
    if (caller.scope !== undefined && !route.open) assertScope(caller.scope, route, params);
    const query = parseJson(route.query, readQuery(searchParams), 'query');
    const text = route.method === 'POST' ? await readBody(request, this.#bodyBytes) : '';
    // A page may send any other type to another origin without being asked first.
    if (text !== '' && !isJsonType(request.headers.get('content-type')))
      throw notJson(request.headers.get('content-type'));
    const body = parseJson(route.body ?? nothing, parseBody(text), 'body');
    const repeats = countIn(request.headers.get('x-stainless-retry-count'));
    const sent = { keyId: caller.keyId, path: pathname + search, body: text };
    const attempt =
      route.method === 'POST'
        ? await this.#attempt(sent, repeats, request.headers.get('idempotency-key') ?? undefined)
        : NO_ATTEMPT;
    const cut = context.env.cut ?? ((): void => {});
    const call = { caller, params, query, body, request, cut, attempt: attempt.key, repeats };
    let { delivered } = context.env;
    try {
      const result = await route.run(call);
      return result instanceof Response ? result : Response.json(result);
    } catch (error) {
      // Refused, it is not tried again.
      if (toWireError(error).status < 500) {
        delivered = Promise.resolve(true);
        await this.#quietly(attempt.refused);
      }
      throw error;
    } finally {
      void this.#quietly(async () => attempt.settle(await delivered));
    }
  }

  /** What the request belongs to: a key of its client's goes before all counting. @throws WireError 409 */
  async #attempt(
    sent: { readonly keyId: string; readonly path: string; readonly body: string },
    retryCount: number,
    idempotencyKey: string | undefined,
  ): Promise<Attempt> {
    if (idempotencyKey !== undefined) {
      const keyed = { ...sent, idempotencyKey };
      const { attempt, isNew } = await this.#keyed.take(keyed);
      const refused = async (): Promise<void> => (isNew ? this.#keyed.forget(keyed) : undefined);
      return { ...NO_ATTEMPT, key: attempt, refused };
    }
    const { key, register } = await this.#register.take({ ...sent, retryCount });
    const settle = async (isThere: boolean | 'unsure' | undefined): Promise<void> => {
      if (isThere === true || isThere === 'unsure')
        await this.#register.written(register, key, isThere === 'unsure');
    };
    const refused = async (): Promise<void> => this.#register.refused(register, key);
    return { key, refused, settle };
  }

  async #quietly(forget: () => Promise<void>): Promise<void> {
    try {
      await forget();
    } catch (error) {
      // Not forgotten now, it is forgotten when it is old.
      if (!isPetrichorError(error)) this.#options.onError?.(error);
    }
  }

  #count(route: Route, { status }: Response, delivered: RequestFacts['delivered']): void {
    const { metrics } = this.#options;
    metrics?.request(route.method, status);
    if (!route.streams || status !== 200 || delivered === undefined) return;
    const gone = metrics?.reader();
    void delivered.finally(() => gone?.());
  }

  #allowOrigin({ headers }: Request, response: Response): void {
    const origin = headers.get('origin');
    if (origin === null || !this.#pages.allowsOrigin(origin)) return;
    response.headers.set('access-control-allow-origin', origin);
    response.headers.set('access-control-expose-headers', 'request-id, retry-after');
    response.headers.append('vary', 'origin');
  }

  #audit(
    route: Route,
    path: string,
    {
      requestId,
      caller,
      status,
    }: { readonly requestId: string; readonly caller: Caller | undefined; readonly status: number },
  ): void {
    if (route.method === 'GET') return;
    this.#options.audit?.({
      at: this.#parts.clock.now(),
      requestId,
      workspace: caller?.workspace ?? '',
      keyId: caller?.keyId ?? '',
      method: route.method,
      path,
      status,
    });
  }
}

function notJson(type: string | null): WireError {
  const given = type === null ? 'it has none' : `it is ${JSON.stringify(type.slice(0, 128))}`;
  return new WireError(
    415,
    `content-type: must be application/json for a request with a body; ${given}.`,
    { details: { error_code: 'unsupported_media_type' } },
  );
}

/** How often a client says that it has tried before; 0 for what is no count. */
function countIn(header: string | null): number {
  return /^\d{1,9}$/.test(header ?? '') ? Number(header) : 0;
}

function newRequestId(): string {
  return `req_${globalThis.crypto.randomUUID().replaceAll('-', '')}`;
}
