import { importOptional, omitUndefined } from '../core/internal.ts';
import { checkOptions, safeListener } from '../core/index.ts';
import { parseOrigins } from '../egress/index.ts';
import { manageRuntime } from '../managed/index.ts';
import type { ManagedRuntime } from '../managed/index.ts';
import { createIdGenerator } from '../managed/internal.ts';
import { systemClock } from '../net/index.ts';
import type { Clock } from '../net/index.ts';
import { ApiKeys, ENVIRONMENT_INDEX } from './auth/api-keys.ts';
import { WorkspaceIndex } from './auth/workspace-index.ts';
import { HttpError, toErrorResponse, toHttpError } from './http/http-error.ts';
import { DEFAULT_RETRY_WINDOW_MS, IdempotentRequests } from './idempotency/idempotent-requests.ts';
import { MissingServerPackageError } from './missing-server-package-error.ts';
import { RequestPipeline } from './request-pipeline.ts';
import type { ServerEnv } from './request-pipeline.ts';
import { agentRoutes } from './routes/agent-routes.ts';
import { environmentRoutes } from './routes/environment-routes.ts';
import { eventRoutes } from './routes/event-routes.ts';
import { healthRoutes } from './routes/health-routes.ts';
import { listingRoutes } from './routes/listing-routes.ts';
import { operatorRoutes } from './routes/operator-routes.ts';
import { inspectionRoutes } from './routes/inspection-routes.ts';
import { sessionControlRoutes } from './routes/session-control-routes.ts';
import { sessionRoutes } from './routes/session-routes.ts';
import { threadRoutes } from './routes/thread-routes.ts';
import { webhookRoutes } from './routes/webhook-routes.ts';
import { workRoutes } from './routes/work-routes.ts';
import type { ConnectionInfo } from './routing/connection-info.ts';
import type { HttpRoute } from './routing/route.ts';
import type { ServerContext } from './routing/server-context.ts';
import { checkLimits, SERVER_OPTIONS } from './server-options.ts';
import type { ServerOptions } from './server-options.ts';
import { SecretBox } from './webhooks/secret-box.ts';
import { WebhookOutbox } from './webhooks/webhook-outbox.ts';
import { WebhookRegistry } from './webhooks/webhook-registry.ts';
import { createWebhookSender } from './webhooks/webhook-sender.ts';
import { EventProjectionCache } from './wire/event-projection-cache.ts';
import { WorkQueue } from './workers/work-queue.ts';

/** A server as a function from a web-standard request to its response. */
export interface Server {
  readonly fetch: (request: Request, connectionInfo?: ConnectionInfo) => Promise<Response>;
  readonly keys: ApiKeys;
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
 *   retry window or secret key, and for two agents with the same id
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
  const closing = new AbortController();
  const runtime = await toManagedRuntime(options);
  const context = createContext({ ...options, runtime }, closing.signal);
  const pipeline = new RequestPipeline(options, context);
  const { clock } = context;
  const schedule = { clock, closing: closing.signal, onError: options.onError };
  const cancelSweep = await sweepRegularly(
    async () => {
      await Promise.all([context.keys.sweep(), context.work.sweep()]);
    },
    { ...schedule, intervalMs: SWEEP_MS },
  );
  const cancelRequestSweep = await sweepRegularly(async () => context.idempotentRequests.sweep(), {
    ...schedule,
    intervalMs: REQUEST_SWEEP_MS,
  });
  await context.webhookOutbox.start();
  const app = new Hono<ServerEnv>({ strict: false });
  // No header name: an id that a client sends must not become the id in the server's log.
  app.use(requestId({ headerName: '', generator: newRequestId }));
  const api = app.basePath(options.basePath ?? '');
  for (const route of createRoutes(context, options)) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    api.on(route.method, path, async (call) => pipeline.handle(route, call));
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
    close: async () => {
      cancelSweep();
      cancelRequestSweep();
      closing.abort();
      await context.webhookOutbox.close();
    },
  };
}

async function toManagedRuntime({
  runtime,
  clock,
  onError,
}: Pick<ServerOptions, 'runtime' | 'clock' | 'onError'>): Promise<ManagedRuntime> {
  if ('eventBatch' in runtime) return runtime;
  return manageRuntime(runtime, omitUndefined({ clock, onError }));
}

function createContext(
  options: ServerOptions & {
    readonly runtime: ManagedRuntime;
    readonly onError: (error: unknown) => void;
  },
  closing: AbortSignal,
): ServerContext {
  const { runtime, clock = systemClock, onError } = options;
  const { store = runtime.runtime.store } = options;
  const newId = createIdGenerator(clock);
  const keys = new ApiKeys(store, clock);
  const sender = createWebhookSender(options.webhooks);
  const secrets = new SecretBox(options.secretKey, {
    isPersistent: store.durability !== 'process',
  });
  const webhooks = new WebhookRegistry({ documents: store, sender, secrets, onError });
  return {
    runtime,
    store,
    clock,
    keys,
    newId,
    agents: new WorkspaceIndex(store, 'workspace-agent'),
    environments: new WorkspaceIndex(store, ENVIRONMENT_INDEX),
    sessions: new WorkspaceIndex(store, 'workspace-session'),
    idempotentRequests: new IdempotentRequests(
      store,
      clock,
      options.retryWindowMs ?? DEFAULT_RETRY_WINDOW_MS,
    ),
    projections: new EventProjectionCache(),
    work: new WorkQueue({
      documents: store,
      runtime,
      keys,
      clock,
      newId,
      leaseMs: options.leaseMs ?? 60_000,
    }),
    webhooks,
    webhookOutbox: new WebhookOutbox({
      store,
      runtime,
      clock,
      registry: webhooks,
      sender,
      onError,
    }),
    modelOrigins: options.modelOrigins ?? [],
    closing,
    keepAliveMs: options.keepAliveMs ?? 15_000,
    readerTimeoutMs: options.readerTimeoutMs ?? 30_000,
  };
}

function createRoutes(context: ServerContext, { metrics }: ServerOptions): readonly HttpRoute[] {
  const apiRoutes = [
    ...agentRoutes(context),
    ...environmentRoutes(context),
    ...sessionRoutes(context),
    ...sessionControlRoutes(context),
    ...inspectionRoutes(context),
    ...eventRoutes(context),
    ...threadRoutes(context),
    ...workRoutes(context),
    ...webhookRoutes(context),
    ...listingRoutes(context),
    ...operatorRoutes(context),
  ];
  return [...apiRoutes, ...healthRoutes(context, apiRoutes, metrics)];
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
