import { statSync } from 'node:fs';
import { platform } from 'node:os';
import { resolve } from 'node:path';
import { isJsonObject } from '../../core/index.ts';
import { openManagedRuntime } from '../../managed/index.ts';
import type { ManagedRuntime } from '../../managed/index.ts';
import {
  createServer,
  failureLog,
  listen,
  Metrics,
  registerAgents,
  workerTools,
  type AuditLine,
  type Server,
  type SessionFailure,
} from '../../server/index.ts';
import { openStore, parseStoreUrl, type Store } from '../../store/index.ts';
import type { Signal } from '../command/cli-context.ts';
import { parseDuration } from '../terminal/duration.ts';
import { EXIT_OK, type ExitCode } from '../command/exit-code.ts';
import { toFailureJson } from '../command/failure-json.ts';
import { createPaint } from '../terminal/paint.ts';
import { oneLine, printable } from '../terminal/printable.ts';
import { DEFAULT_HOST, DEFAULT_PORT, type ServeCall } from './serve-options.ts';
import { loadServedAgents, type ServedAgents } from './served-agents.ts';
import { createServedTools } from './served-tools.ts';
import { secretKeySource } from './secret-key-source.ts';
import { DEFAULT_STORE } from '../command/shared-options.ts';
import { UsageError } from '../command/usage-error.ts';

const DEFAULT_WORKSPACE = 'default';

/** Serves until a signal says to stop. @throws UsageError, and what opening and listening throw */
export async function serve(call: ServeCall): Promise<ExitCode> {
  const { values, cwd } = call;
  // Read before anything is opened: a command line that makes no sense does nothing.
  const address = { port: parsePort(values.port), hostname: values.host ?? DEFAULT_HOST };
  const limits = parseLimits(call);
  const served: ServedAgents =
    values.agents === undefined
      ? { agents: [], tools: [] }
      : await loadServedAgents(values.agents, cwd);
  const url = values.store ?? DEFAULT_STORE;
  const store = await openStore(url);
  try {
    warnIfReadableByOthers(call, url);
    return await serveFrom(store, { call, served, address, limits });
  } finally {
    await store.close();
  }
}

interface ServePlan {
  readonly call: ServeCall;
  readonly served: ServedAgents;
  readonly address: { readonly port: number; readonly hostname: string };
  readonly limits: NonNullable<Parameters<typeof createServer>[0]['limits']>;
}

async function serveFrom(store: Store, plan: ServePlan): Promise<ExitCode> {
  const { call, served, address, limits } = plan;
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
  const { tools: _, agents, builtIns: __, ...services } = served;
  const { builtIns, ...removing } = createServedTools(call, served);
  await using runtime = await openManagedRuntime({
    ...services,
    store,
    env,
    modelOrigins: [...values['model-origin'], ...listModelOrigins(agents)],
    clock,
    observers: [metrics.observe, failureLog((failure) => writeFailure(call, failure))],
    ...removing,
    builtIns: workerTools(builtIns),
    onError,
  });
  await registerAgents({ runtime, store }, DEFAULT_WORKSPACE, agents);
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
    ...(secretKey !== undefined && { secretKey }),
    audit: (line) => writeAudit(call, line),
    onError,
  });
  // Awaited here: the runtime is open until then.
  return await serveUntilSignal(call, { server, runtime, address });
}

/** Where the models of the file's own agents are: who wrote the file is the operator. */
function listModelOrigins(agents: readonly unknown[]): readonly string[] {
  return agents.flatMap((agent) => {
    const model = isJsonObject(agent) ? agent['model'] : undefined;
    const url = isJsonObject(model) ? model['base_url'] : undefined;
    return typeof url === 'string' && /^https?:/.test(url) ? (URL.parse(url)?.origin ?? []) : [];
  });
}

async function serveUntilSignal(
  call: ServeCall,
  {
    server,
    runtime,
    address,
  }: {
    readonly server: Server;
    readonly runtime: ManagedRuntime;
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
    await announce(call, { url: listening.url, server, runtime });
    await stopRequested;
  } finally {
    // From here on a signal ends the program at once.
    for (const signal of listened) signals.off(signal, onSignal);
  }
  if (!call.values.json) call.stdout.write('Stopped. The same command goes on.\n');
  return EXIT_OK;
}

async function announce(
  { values, stdout, env }: ServeCall,
  {
    url,
    server,
    runtime,
  }: { readonly url: string; readonly server: Server; readonly runtime: ManagedRuntime },
): Promise<void> {
  const store = values.store ?? DEFAULT_STORE;
  const needsKey = await server.keys.hasActiveKey();
  const { data } = await runtime.listAgents({ limit: 100 });
  if (values.json) {
    const agents = data.map(({ id }) => id);
    stdout.write(`${JSON.stringify({ type: 'serving', url, store, needsKey, agents })}\n`);
    return;
  }
  const paint = createPaint(stdout, env);
  const who = needsKey ? 'A key is needed.' : 'No key is needed: only this machine can call.';
  stdout.write(`Serving on ${paint('bold', url)} from ${printable(store)}. ${who}\n`);
  for (const { id, definition } of data)
    stdout.write(`  ${paint('cyan', id)}  ${oneLine(definition.name, 200)}\n`);
}

function writeAudit({ values, stdout }: ServeCall, line: AuditLine): void {
  if (values.json) {
    stdout.write(`${JSON.stringify({ type: 'audit', ...line })}\n`);
    return;
  }
  const { at, method, path, status, workspace, keyId, requestId } = line;
  const when = new Date(at).toISOString();
  const who = workspace === '' ? '-' : `${workspace}/${keyId}`;
  stdout.write(`${when} ${method} ${printable(path)} ${status} ${who} ${requestId}\n`);
}

/** What a client is told of a failure is its reference: here it stands with the reason. */
function writeFailure({ values, stderr }: ServeCall, failure: SessionFailure): void {
  const { reference, code, message } = failure;
  stderr.write(
    values.json
      ? `${JSON.stringify({ type: 'failure', ...failure })}\n`
      : `${printable(reference)} ${code}: ${oneLine(message, 2000)}\n`,
  );
}

/** A store of an earlier version, or one that was made so, may be open to other users of the machine. */
function warnIfReadableByOthers({ cwd, stderr }: ServeCall, url: string): void {
  const parsed = parseStoreUrl(url);
  if (parsed.kind !== 'sqlite' || platform() === 'win32') return;
  const mode = statSync(resolve(cwd, parsed.file)).mode & 0o777;
  if ((mode & 0o077) !== 0)
    stderr.write(
      `${printable(parsed.file)} can be read by other users (mode ${mode.toString(8)}): chmod 600 unless they should.\n`,
    );
}

function parsePort(value: string | undefined): number {
  const port = Number(value ?? DEFAULT_PORT);
  if (Number.isSafeInteger(port) && port >= 0 && port < 65_536 && value !== '') return port;
  throw new UsageError(`--port must be a number from 0 to 65535; it is "${value}".`, 'serve');
}

function parseLimits({ values }: ServeCall): ServePlan['limits'] {
  const bodyBytes = parseCount('max-body', values['max-body']);
  const createsPerMinute = parseCount('creates-per-minute', values['creates-per-minute']);
  const requestsPerMinute = parseCount('requests-per-minute', values['requests-per-minute']);
  const failedKeysPerMinute = parseCount(
    'failed-keys-per-minute',
    values['failed-keys-per-minute'],
  );
  return {
    ...(bodyBytes !== undefined && { bodyBytes }),
    ...(createsPerMinute !== undefined && { createsPerMinute }),
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(failedKeysPerMinute !== undefined && { failedKeysPerMinute }),
  };
}

function parseRetryWindow({ values }: ServeCall): { readonly retryWindowMs?: number } {
  const value = values['retry-window'];
  if (value === undefined) return {};
  const ms = value === '0' ? 0 : parseDuration(value);
  if (ms !== undefined) return { retryWindowMs: ms };
  throw new UsageError(
    `--retry-window must be 0 or a duration such as 30s or 2m; it is "${value}".`,
    'serve',
  );
}

function parseCount(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const count = Number(value);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new UsageError(`--${name} must be a whole number above 0; it is "${value}".`, 'serve');
}
