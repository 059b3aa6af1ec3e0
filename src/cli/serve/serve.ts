import { omitUndefined, readMember } from '../../core/internal.ts';
import { openManagedRuntime } from '../../managed/index.ts';
import type { ManagedRuntime } from '../../managed/index.ts';
import {
  createServer,
  failureLog,
  listen,
  Metrics,
  registerAgents,
  workerTools,
  type Server,
} from '../../server/index.ts';
import { openStore, type Store } from '../../store/index.ts';
import type { Signal } from '../command/cli-context.ts';
import { EXIT_OK, type ExitCode } from '../command/exit-code.ts';
import { toFailureJson } from '../command/failure-json.ts';
import { oneLine } from '../terminal/printable.ts';
import { DEFAULT_HOST, type ServeCall } from './serve-options.ts';
import { assertKnownModels, assertKnownTools, listMissingKeys } from './check-served-agents.ts';
import { loadServedAgents, NO_AGENTS } from './served-agents.ts';
import type { ServedAgents, ServedCode, ServedDefinition } from './served-agents.ts';
import { createServedTools } from './served-tools.ts';
import { secretKeySource } from './secret-key-source.ts';
import { DEFAULT_STORE } from '../command/shared-options.ts';
import {
  parseAgentsFile,
  parsePort,
  parseLimits,
  parseRetryWindow,
} from './parse-serve-options.ts';
import {
  announce,
  writeAudit,
  writeFailure,
  warnAboutExports,
  warnAboutKeys,
  warnIfReadableByOthers,
} from './serve-output.ts';

const DEFAULT_WORKSPACE = 'default';

/**
 * Serves until a signal stops it.
 * @throws UsageError for an invalid command line; the errors of opening the store and of listening
 */
export async function serve(call: ServeCall): Promise<ExitCode> {
  const { cwd } = call;
  const file = parseAgentsFile(call);
  // Parsed before anything is opened: an invalid command line must have no effect.
  const address = { port: parsePort(call.values.port), hostname: call.values.host ?? DEFAULT_HOST };
  const limits = parseLimits(call);
  const served = file === undefined ? NO_AGENTS : await loadServedAgents(file, cwd);
  if (file !== undefined) assertKnownModels(file, served.definitions);
  const url = call.values.store ?? DEFAULT_STORE;
  const store = await openStore(url);
  try {
    warnIfReadableByOthers(call, url);
    return await serveFrom(store, { call, file: file ?? '', served, address, limits });
  } finally {
    await store.close();
  }
}

interface ServePlan {
  readonly call: ServeCall;
  /** Empty: no file. */
  readonly file: string;
  readonly served: ServedAgents;
  readonly address: { readonly port: number; readonly hostname: string };
  readonly limits: NonNullable<Parameters<typeof createServer>[0]['limits']>;
}

async function serveFrom(store: Store, plan: ServePlan): Promise<ExitCode> {
  const { call, file, served, address, limits } = plan;
  const { values, env, clock, stderr } = call;
  const onError = (error: unknown): void => {
    const { code, message } = toFailureJson(error);
    stderr.write(
      values.json
        ? `${JSON.stringify(toFailureJson(error))}\n`
        : `${code}: ${oneLine(message, Infinity)}\n`,
    );
  };
  const secretKey = secretKeySource(values.store ?? DEFAULT_STORE, call.cwd, env);
  const metrics = new Metrics(clock);
  const { tools: _, definitions, code, leftOut, builtIns: __, ...services } = served;
  const { builtIns, toolNames, ...removing } = createServedTools(call, served);
  if (toolNames !== undefined) assertKnownTools(file, definitions, toolNames);
  warnAboutExports(call, file, leftOut);
  await using runtime = await openManagedRuntime({
    ...services,
    ...omitUndefined({ app: values.app, models: services.resolver }),
    agents: code.map(({ source }) => source),
    store,
    env,
    modelOrigins: [...values['model-origin'], ...listModelOrigins(definitions)],
    clock,
    observers: [metrics.observe, failureLog((failure) => writeFailure(call, failure))],
    ...removing,
    builtIns: workerTools(builtIns),
    onError,
  });
  await registerAgents(
    { runtime, store },
    DEFAULT_WORKSPACE,
    definitions.map(({ value }) => value),
    { labels: definitions.map(({ label }) => label) },
  );
  if (served.resolver === undefined) warnAboutKeys(call, listMissingKeys(file, definitions, env));
  const server = await createServer({
    runtime,
    store,
    keys: 'when-created',
    limits,
    ...parseRetryWindow(call),
    metrics,
    clock,
    allowOrigins: values['allow-origin'],
    allowHosts: values['allow-host'],
    modelOrigins: values['model-origin'],
    webhooks: { allowHosts: values['webhook-host'] },
    ...omitUndefined({ secretKey }),
    audit: (line) => writeAudit(call, line),
    onError,
  });
  // Awaited here, so that the runtime stays open until then.
  return await serveUntilSignal(call, { server, runtime, code, address });
}

/**
 * The origins of the models in the agents file. Its author is the operator, so they are allowed.
 */
function listModelOrigins(definitions: readonly ServedDefinition[]): readonly string[] {
  return definitions.flatMap(({ value }) => {
    const url = readMember(readMember(value, 'model'), 'base_url');
    return typeof url === 'string' && /^https?:/.test(url) ? (URL.parse(url)?.origin ?? []) : [];
  });
}

async function serveUntilSignal(
  call: ServeCall,
  {
    server,
    runtime,
    code,
    address,
  }: {
    readonly server: Server;
    readonly runtime: ManagedRuntime;
    readonly code: readonly ServedCode[];
    readonly address: ServePlan['address'];
  },
): Promise<ExitCode> {
  const { clock, signals } = call;
  const { promise: stopRequested, resolve: stop } = Promise.withResolvers<void>();
  const listened: readonly Signal[] = ['SIGINT', 'SIGTERM'];
  const onSignal = (): void => stop();
  for (const signal of listened) signals.on(signal, onSignal);
  try {
    await using listening = await listen(server, {
      ...address,
      keysRequired: true,
      trustedProxies: call.values['trust-proxy'],
      clock,
    });
    await announce(call, { url: listening.url, server, runtime, code });
    await stopRequested;
  } finally {
    // From here on, a signal ends the program at once.
    for (const signal of listened) signals.off(signal, onSignal);
  }
  if (!call.values.json) call.stdout.write('Stopped. Run the same command to continue.\n');
  return EXIT_OK;
}
