import type { Context } from 'hono';
import { importOptional, omitUndefined } from '../core/internal.ts';
import { checkOptions, InvalidInputError, safeListener } from '../core/index.ts';
import type { SessionKey } from '../core/index.ts';
import { parseOrigins } from '../egress/index.ts';
import type { Clock } from '../net/index.ts';
import type { DrainOptions } from '../runtime/index.ts';
import type { ApiKeys } from './auth/api-keys.ts';
import { consoleHandler } from './console/serve-console.ts';
import { createContext, toManagedRuntime } from './create-context.ts';
import { HttpError, toErrorResponse, toHttpError } from './http/http-error.ts';
import { MissingServerPackageError } from './http/missing-server-package-error.ts';
import { DEFAULT_PROTOCOLS, loadProtocols } from './protocol-list.ts';
import { adkWebHandler } from './protocols/adk/serve-adk-web.ts';
import type { Protocol } from './protocols/protocol.ts';
import { DEFAULT_BODY_BYTES, RequestPipeline } from './request-pipeline.ts';
import type { ServerEnv } from './request-pipeline.ts';
import { CallSlots } from './live/call-slots.ts';
import { LiveEndpoint } from './live/live-endpoint.ts';
import { sessionSocketRoute } from './live/session-socket-route.ts';
import type { UpgradeCall } from './live/live-endpoint.ts';
import { livePageHandler } from './live/serve-live-page.ts';
import { healthRoutes } from './routes/health-routes.ts';
import type { ConnectionInfo } from './routing/connection-info.ts';
import type { HttpRoute } from './routing/route.ts';
import type { ServerContext } from './routing/server-context.ts';
import { RetentionSweep } from './retention/retention-sweep.ts';
import { checkLimits, SERVER_OPTIONS } from './server-options.ts';
import type { ServerOptions } from './server-options.ts';

/** A server as a function from a web-standard request to its response. */
export interface Server {
  readonly fetch: (request: Request, connectionInfo?: ConnectionInfo) => Promise<Response>;
  readonly keys: ApiKeys;
  /**
   * Answers a request for a WebSocket, from the `upgrade` event of a server of `node:http`. It never rejects. Missing: the
   * server serves no live sessions.
   */
  readonly upgrade?: (call: UpgradeCall) => Promise<void>;
  /**
   * Prepares to stop, while other servers share the store: `GET /health/ready` and every request that may change
   * something get 503, and streams go on. Gives the sessions away as `Runtime.drain` does, and resolves. Call `close`
   * then.
   */
  readonly drain: (options?: DrainOptions) => Promise<void>;
  /** Ends all streams, which readers can resume elsewhere, and stops webhooks. Later requests get 503. */
  readonly close: () => Promise<void>;
}

/** Interval between removals of expired documents. */
const SWEEP_MS = 60 * 60_000;
/** Each POST request leaves a document for a minute or more, so these are removed more often. */
const REQUEST_SWEEP_MS = 15 * 60_000;

/**
 * Serves the agents and sessions of a runtime over HTTP.
 * @throws MissingServerPackageError when `hono` is not installed; InvalidInputError for an invalid origin, host, limit,
 *   retry window, protocol or secret key, and for two agents with the same id
 * @throws ConsoleFilesMissingError, LivePageFilesMissingError if `console` or `livePage` is set and its files are not built
 * @throws AdkWebFilesMissingError if `adkWeb` has no web interface
 * @example
 * const runtime = await openRuntime({ agents: [assistant], store: 'sqlite:petrichor.db' });
 * const server = await createServer({ runtime, keys: 'when-created' });
 */
export async function createServer(serverOptions: ServerOptions): Promise<Server> {
  checkOptions(SERVER_OPTIONS, serverOptions);
  const options = { ...serverOptions, onError: safeListener('onError', serverOptions.onError) };
  const { Hono } = await importOptional(import('hono'), toMissingHono);
  const { requestId } = await importOptional(import('hono/request-id'), toMissingHono);
  parseOrigins(options.modelOrigins ?? [], 'modelOrigins');
  checkLimits(options.limits);
  const protocols = await loadProtocols(options.protocols ?? DEFAULT_PROTOCOLS);
  const closing = new AbortController();
  const draining = new AbortController();
  const runtime = await toManagedRuntime(options);
  let isDrained = false;
  const drain = async (drainOptions?: DrainOptions): Promise<void> => {
    draining.abort();
    await runtime.runtime.drain(drainOptions);
    isDrained = true;
  };
  const context = createContext(
    { ...options, runtime, protocols },
    {
      closing: closing.signal,
      draining: draining.signal,
      drain: () => {
        draining.abort();
        if (options.onDrain === undefined) void drain().catch(options.onError);
        else options.onDrain();
      },
      isDrained: () => isDrained,
    },
  );
  const pipeline = new RequestPipeline(options, context);
  const live = await openLive({ ...options, protocols }, context, pipeline);
  const retention = createRetention(options, context);
  const stopBackgroundWork =
    options.readOnly === true
      ? () => {}
      : await startBackgroundWork(context, { closing: closing.signal, onError: options.onError });
  retention?.start();
  const app = new Hono<ServerEnv>({ strict: false });
  // No header name: an id that a client sends must not become the id in the server's log.
  app.use(requestId({ headerName: '', generator: newRequestId }));
  const api = app.basePath(options.basePath ?? '');
  for (const route of createRoutes(context, protocols, options)) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    api.on(route.method, path, async (call) => pipeline.handle(route, call));
  }
  const { console: consoleOption = false, basePath = '' } = options;
  if (consoleOption !== false) {
    const mount = `${basePath}/console`;
    const serveConsole = consoleHandler({
      basePath: mount,
      ...(consoleOption !== true && { files: consoleOption.files }),
      proofs: options.proofs !== undefined && options.readOnly !== true,
      readOnly: options.readOnly === true,
    });
    const answer = async (call: Context<ServerEnv>): Promise<Response> => {
      await pipeline.checkHost(call.req.raw);
      return serveConsole(call.req.raw);
    };
    api.all('/console', answer);
    api.all('/console/*', answer);
  }
  const { livePage = false } = options;
  if (livePage !== false) {
    if (live === undefined)
      throw new InvalidInputError(
        'livePage',
        'needs live: the hub of the sessions that it speaks with.',
      );
    const servePage = livePageHandler(
      `${basePath}/live`,
      livePage === true ? undefined : livePage.files,
    );
    const answer = async (call: Context<ServerEnv>): Promise<Response> => {
      await pipeline.checkHost(call.req.raw);
      return servePage(call.req.raw);
    };
    api.all('/live', answer);
    api.all('/live/*', answer);
  }
  if (options.adkWeb !== undefined) {
    const serveAdkWeb = adkWebHandler(options.adkWeb);
    for (const path of ['/', '/dev-ui', '/dev-ui/*'])
      api.all(path, async (call) => {
        await pipeline.checkHost(call.req.raw);
        return serveAdkWeb(call.req.raw);
      });
  }
  api.options('*', async ({ req }) => pipeline.preflight(req.raw));
  api.notFound(async (call) => {
    const { method, path, raw } = call.req;
    await pipeline.checkOrigin(raw);
    return toErrorResponse(
      new HttpError(404, `No route matches ${method} ${path}. GET /openapi.json lists the routes.`),
      call.get('requestId'),
    );
  });
  api.onError((error, call) => toErrorResponse(toHttpError(error), call.get('requestId')));
  return {
    fetch: async (request, connectionInfo = {}) =>
      // The URL parser refuses a Host such as 1.2.3.256.
      URL.canParse(request.url)
        ? api.fetch(request, connectionInfo)
        : toErrorResponse(
            new HttpError(400, 'The Host header is not a valid host name. Correct it.'),
            newRequestId(),
          ),
    keys: context.keys,
    drain,
    ...omitUndefined({ upgrade: live?.upgrade }),
    close: async () => {
      stopBackgroundWork();
      closing.abort();
      await retention?.close();
      await context.proofs.close();
      await context.webhookOutbox.close();
    },
  };
}

function createRetention(
  {
    retention,
    archive,
    readOnly,
    metrics,
    onError,
  }: Pick<ServerOptions, 'retention' | 'archive' | 'readOnly' | 'metrics'> & {
    readonly onError: (error: unknown) => void;
  },
  context: ServerContext,
): RetentionSweep | undefined {
  if (retention === undefined) {
    if (archive !== undefined)
      throw new InvalidInputError('archive', 'needs retention: the policy that archives sessions.');
    return undefined;
  }
  if (readOnly === true)
    throw new InvalidInputError(
      'retention',
      'cannot be used with readOnly, because it deletes sessions. Leave one of them out.',
    );
  return new RetentionSweep(context, retention, { archive, metrics, onError });
}

async function openLive(
  options: Omit<ServerOptions, 'protocols'> & {
    readonly protocols: readonly Protocol[];
    readonly onError: (error: unknown) => void;
  },
  context: ServerContext,
  pipeline: RequestPipeline,
): Promise<LiveEndpoint | undefined> {
  const { live: hub, basePath = '', limits = {}, liveRecordings = false } = options;
  const { onError, protocols } = options;
  if (hub === undefined) {
    if (liveRecordings !== false)
      throw new InvalidInputError('liveRecordings', 'needs live: pass the hub of the runtime.');
    return undefined;
  }
  if (options.readOnly === true)
    throw new InvalidInputError(
      'live',
      'cannot be served with readOnly, because speech writes to its session. Leave one of them out.',
    );
  const services = {
    hub,
    slots: new CallSlots(limits.liveConnections ?? 10),
    mayRecord: async (session: SessionKey) =>
      typeof liveRecordings === 'function' ? liveRecordings(session) : liveRecordings,
    limits: {
      messageBytes: limits.liveMessageBytes ?? 65_536,
      bodyBytes: limits.bodyBytes ?? DEFAULT_BODY_BYTES,
    },
  };
  return LiveEndpoint.open({
    context,
    basePath,
    routes: [
      sessionSocketRoute(context, services),
      ...protocols.flatMap(({ sockets }) => sockets?.(context, services) ?? []),
    ],
    checkOrigin: async (request) => pipeline.checkSocketOrigin(request),
    authenticate: async (headers, address) => pipeline.authenticateSocket(headers, address),
    newRequestId,
    onOpened: (opened) => pipeline.auditSocket(opened),
    onError,
  });
}

function createRoutes(
  context: ServerContext,
  protocols: readonly Protocol[],
  { metrics }: ServerOptions,
): readonly HttpRoute[] {
  const routes = protocols.flatMap((protocol) => {
    const { toErrorBody } = protocol;
    return protocol
      .routes(context)
      .map((route) => ({ ...route, ...omitUndefined({ toErrorBody }) }));
  });
  return [...routes, ...healthRoutes(context, routes, metrics)];
}

/** Starts what a server does without a request: it removes what expired, and delivers webhooks. */
async function startBackgroundWork(
  { clock, keys, work, idempotentRequests, webhookOutbox }: ServerContext,
  options: { readonly closing: AbortSignal; readonly onError: (error: unknown) => void },
): Promise<() => void> {
  const schedule = { clock, ...options };
  const cancelSweep = await sweepRegularly(
    async () => {
      await Promise.all([keys.sweep(), work.sweep()]);
    },
    { ...schedule, intervalMs: SWEEP_MS },
  );
  const cancelRequestSweep = await sweepRegularly(async () => idempotentRequests.sweep(), {
    ...schedule,
    intervalMs: REQUEST_SWEEP_MS,
  });
  await webhookOutbox.start();
  return () => {
    cancelSweep();
    cancelRequestSweep();
  };
}

/** Runs `sweep` now and then at intervals, until the server closes. Returns a function that cancels the next run. */
async function sweepRegularly(
  sweep: () => Promise<void>,
  options: {
    readonly intervalMs: number;
    readonly clock: Clock;
    readonly closing: AbortSignal;
    readonly onError: (error: unknown) => void;
  },
): Promise<() => void> {
  const { intervalMs, clock, closing, onError } = options;
  let cancel = (): void => {};
  const schedule = (): void => {
    if (closing.aborted) return;
    cancel = clock.at(clock.now() + intervalMs, () => {
      void sweep().catch(onError).finally(schedule);
    });
  };
  await sweep();
  schedule();
  return () => cancel();
}

function newRequestId(): string {
  return `req_${globalThis.crypto.randomUUID().replaceAll('-', '')}`;
}

function toMissingHono(cause: unknown): MissingServerPackageError {
  return new MissingServerPackageError('hono', cause);
}
