import { resolve } from 'node:path';
import { omitUndefined } from '../../core/internal.ts';
import { LiveHub } from '../../live/index.ts';
import type { ManagedRuntime } from '../../managed/index.ts';
import {
  createServer,
  Metrics,
  type ProofOptions,
  type ProtocolName,
  type Server,
  type ServerOptions,
} from '../../server/index.ts';
import type { Quotas, SessionDispatcher } from '../../runtime/index.ts';
import { listenWithRouting } from '../../server/internal.ts';
import { openStore, type Store } from '../../store/index.ts';
import type { Signal } from '../command/cli-context.ts';
import { EXIT_OK, type ExitCode } from '../command/exit-code.ts';
import { UsageError } from '../command/usage-error.ts';
import { DEFAULT_HOST, toStoreOptions, type ServeCall } from './serve-options.ts';
import { assertKnownModels } from './check-served-agents.ts';
import { readQuotas } from '../loading/read-quotas.ts';
import { createErrorOutput, openServedRuntime } from './open-served-runtime.ts';
import type { ServedRuntimePlan } from './open-served-runtime.ts';
import { openServedTelemetry } from './open-served-telemetry.ts';
import { loadServedAgents, NO_AGENTS } from './served-agents.ts';
import type { ServedAgents, ServedCode } from './served-agents.ts';
import { secretKeySource } from './secret-key-source.ts';
import { DEFAULT_STORE } from '../command/shared-options.ts';
import { readRetention } from '../loading/retention-file.ts';
import {
  checkTrustedProxies,
  parseAgentsFile,
  parsePort,
  parseLimits,
  parseDrainTimeout,
  parseProtocols,
  parseRetryWindow,
  parseWorkers,
} from './parse-serve-options.ts';
import { parseDispatcher } from './served-dispatcher.ts';
import { announce, writeAudit, warnIfReadableByOthers } from './serve-output.ts';
import { WorkerLink } from './worker-link.ts';
import { serveWithWorkers } from './worker-pool.ts';

/** What `petrichor dev` and `petrichor adk web` do differently. */
export interface ServeHooks extends Pick<ServedRuntimePlan, 'createModels'> {
  /** Called when the file is loaded, before anything is opened. The server continues when the promise resolves. */
  readonly onLoaded?: () => Promise<{ readonly port?: number }>;
  readonly onListening?: (url: string, port: number) => void;
  /** Loads the agents of the operand, if that is not a module. */
  readonly loadAgents?: () => Promise<ServedAgents>;
  /** The folder of ADK's web interface, which needs the protocol `adk`. */
  readonly adkWeb?: string;
}

/**
 * Serves until a signal stops it.
 * @throws UsageError for an invalid command line; the errors of opening the store and of listening
 */
export async function serve(call: ServeCall, hooks: ServeHooks = {}): Promise<ExitCode> {
  const worker = await WorkerLink.open(call);
  return serveIn(worker, worker?.createWorkerCall() ?? call, hooks);
}

async function serveIn(
  worker: WorkerLink | undefined,
  call: ServeCall,
  hooks: ServeHooks,
): Promise<ExitCode> {
  const { cwd } = call;
  const file = parseAgentsFile(call);
  // Parsed before anything is opened: an invalid command line must have no effect.
  const address = { port: parsePort(call.values.port), hostname: call.values.host ?? DEFAULT_HOST };
  const limits = parseLimits(call);
  const drainMs = parseDrainTimeout(call);
  const retention = parseRetention(call);
  const { quotas: quotasFile } = call.values;
  const quotas = quotasFile === undefined ? undefined : readQuotas(quotasFile, cwd, 'serve');
  const workers = parseWorkers(call);
  checkTrustedProxies(call);
  const dispatcher = parseDispatcher(call);
  const protocols: readonly ProtocolName[] =
    hooks.adkWeb !== undefined && call.values.protocols === undefined
      ? ['managed', 'adk']
      : parseProtocols(call);
  if (workers > 1 && worker === undefined) return serveWithWorkers(call, { workers, drainMs });
  const { loadAgents = async () => loadServedAgents(file ?? '', cwd) } = hooks;
  const served = file === undefined ? NO_AGENTS : await loadAgents();
  if (file !== undefined) assertKnownModels(file, served.definitions);
  const moved = await hooks.onLoaded?.();
  const url = call.values.store ?? DEFAULT_STORE;
  const store = await openStore(url, toStoreOptions(call.values));
  try {
    warnIfReadableByOthers(call, url);
    return await serveFrom(store, {
      call,
      worker,
      file: file ?? '',
      served,
      address: { ...address, ...moved },
      limits,
      quotas,
      protocols,
      drainMs,
      retention,
      dispatcher,
      hooks,
    });
  } finally {
    await store.close();
  }
}

/** @throws UsageError */
function parseRetention(call: ServeCall): ServePlan['retention'] {
  const { retention: file, archive } = call.values;
  if (file !== undefined) return readRetention(file, call, 'serve');
  if (archive === undefined) return {};
  throw new UsageError('--archive needs --retention, which says what is archived.', 'serve');
}

interface ServePlan {
  readonly call: ServeCall;
  /** Undefined: this process serves alone. */
  readonly worker: WorkerLink | undefined;
  /** Empty: no file. */
  readonly file: string;
  readonly served: ServedAgents;
  readonly address: { readonly port: number; readonly hostname: string };
  readonly protocols: readonly ProtocolName[];
  readonly limits: NonNullable<Parameters<typeof createServer>[0]['limits']>;
  readonly quotas: Quotas | undefined;
  readonly drainMs: number;
  readonly retention: Pick<ServerOptions, 'retention' | 'archive'>;
  readonly dispatcher: SessionDispatcher | undefined;
  readonly hooks: ServeHooks;
}

async function serveFrom(store: Store, plan: ServePlan): Promise<ExitCode> {
  const { call, worker, file, served, address, limits, quotas, protocols, drainMs } = plan;
  const { retention, hooks } = plan;
  const { values, env, clock } = call;
  const onError = createErrorOutput(call);
  const secretKey = secretKeySource(values.store ?? DEFAULT_STORE, call.cwd, env);
  const metrics = worker?.createMetrics(store) ?? new Metrics(clock);
  await using telemetry = values.telemetry ? await openServedTelemetry(call) : undefined;
  const live = values.live || values['live-page'] ? new LiveHub() : undefined;
  await using runtime = await openServedRuntime(call, {
    file,
    served,
    store,
    observers: [metrics.observe],
    interceptors: telemetry === undefined ? undefined : [telemetry],
    onError,
    live,
    quotas,
    dispatcher: plan.dispatcher,
    createModels: hooks.createModels,
  });
  const { code } = served;
  const { promise: drainRequested, resolve: requestDrain } = Promise.withResolvers<Signal>();
  const server = await createServer({
    runtime,
    store,
    keys: 'when-created',
    protocols,
    limits,
    livePage: values['live-page'],
    console: values.console && toConsole(env),
    imports: values.imports,
    ...omitUndefined({
      proofs: hooks.loadAgents === undefined ? toProofOptions(call, file) : undefined,
    }),
    ...parseRetryWindow(call),
    ...retention,
    metrics,
    clock,
    allowOrigins: values['allow-origin'],
    allowHosts: values['allow-host'],
    modelOrigins: values['model-origin'],
    webhooks: { allowHosts: values['webhook-host'] },
    ...omitUndefined({
      secretKey,
      live,
      publicUrl: values['public-url'],
      adkWeb: hooks.adkWeb,
    }),
    audit: (line) => writeAudit(call, line),
    onError,
    // As if the process had got the signal.
    onDrain: () => {
      if (worker === undefined) requestDrain('SIGTERM');
      else worker.requestDrain();
    },
  });
  // Awaited here, so that the runtime stays open until then.
  return await serveUntilSignal(call, {
    server,
    runtime,
    code,
    address,
    hooks,
    drainMs,
    drainRequested,
    worker,
    onError,
  });
}

/** A build of the console other than that of the package. */
function toConsole({
  PETRICHOR_CONSOLE_FILES: files = '',
}: ServeCall['env']): NonNullable<ServerOptions['console']> {
  return files === '' ? true : { files };
}

/** With the console, agents of a module can be proved. A .json file has none. */
function toProofOptions({ values, cwd, env }: ServeCall, file: string): ProofOptions | undefined {
  if (!values.console || file === '' || file.endsWith('.json')) return undefined;
  return { module: resolve(cwd, file), env };
}

async function serveUntilSignal(
  call: ServeCall,
  {
    server,
    runtime,
    code,
    address,
    hooks,
    drainMs,
    drainRequested,
    worker,
    onError,
  }: {
    readonly server: Server;
    readonly runtime: ManagedRuntime;
    readonly code: readonly ServedCode[];
    readonly address: ServePlan['address'];
    readonly hooks: ServeHooks;
    readonly drainMs: number;
    /** Resolves when an operator drains the server over HTTP. */
    readonly drainRequested: Promise<Signal>;
    readonly worker: WorkerLink | undefined;
    readonly onError: (error: unknown) => void;
  },
): Promise<ExitCode> {
  const { clock, signals } = call;
  const { promise: stopRequested, resolve: stop } = Promise.withResolvers<Signal>();
  const stops: readonly [Signal, () => void][] = (['SIGINT', 'SIGTERM'] as const).map((signal) => [
    signal,
    () => stop(signal),
  ]);
  for (const [signal, onSignal] of stops) signals.on(signal, onSignal);
  const endAtOnce = (): void => {
    for (const [signal, onSignal] of stops) signals.off(signal, onSignal);
  };
  try {
    await worker?.untilAllOpened();
    await using listening = await listenWithRouting(
      server,
      {
        ...address,
        keysRequired: true,
        trustedProxies: call.values['trust-proxy'],
        clock,
      },
      worker?.router,
    );
    hooks.onListening?.(listening.url, listening.port);
    const announced = { url: listening.url, server, runtime, code };
    if (worker === undefined) await announce(call, announced);
    else {
      worker.reportListening();
      void worker.announcing
        .then(async () => announce(worker.serverCall, announced))
        .catch(onError);
    }
    const signal = await Promise.race([stopRequested, drainRequested]);
    // From here on, a signal ends the program at once.
    endAtOnce();
    if (signal === 'SIGTERM') {
      if (!call.values.json && worker === undefined)
        call.stdout.write('Handing over the sessions.\n');
      await server.drain({ timeoutMs: drainMs });
    }
  } finally {
    endAtOnce();
  }
  if (!call.values.json && worker === undefined)
    call.stdout.write('Stopped. Run the same command to continue.\n');
  return EXIT_OK;
}
