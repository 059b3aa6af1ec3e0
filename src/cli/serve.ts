import { statSync } from 'node:fs';
import { platform } from 'node:os';
import { resolve } from 'node:path';
import { isJsonObject } from '../core/index.ts';
import { openManagedRuntime } from '../managed/index.ts';
import type { ManagedRuntime } from '../managed/index.ts';
import {
  createServer,
  failureLog,
  listen,
  Metrics,
  seedAgents,
  workerTools,
  type AuditLine,
  type Server,
  type SessionFailure,
} from '../server/index.ts';
import { openStore, parseStoreUrl, type Store } from '../store/index.ts';
import type { Signal } from './cli-context.ts';
import { parseDuration } from './duration.ts';
import { EXIT_OK, type ExitCode } from './exit-code.ts';
import { failureJson } from './failure-json.ts';
import { paintFor } from './paint.ts';
import { oneLine, printable } from './printable.ts';
import { DEFAULT_HOST, DEFAULT_PORT, type ServeCall } from './serve-options.ts';
import { loadServedAgents, type ServedAgents } from './served-agents.ts';
import { servedTools } from './served-tools.ts';
import { secretKeySource } from './secret-key-file.ts';
import { DEFAULT_STORE } from './session-options.ts';
import { UsageError } from './usage-error.ts';

const DEFAULT_WORKSPACE = 'default';

/** Serves until a signal says to stop. @throws UsageError, and what opening and listening throw */
export async function serve(call: ServeCall): Promise<ExitCode> {
  const { values, cwd } = call;
  // Read before anything is opened: a command line that makes no sense does nothing.
  const address = { port: portOf(values.port), hostname: values.host ?? DEFAULT_HOST };
  const limits = limitsOf(call);
  const served: ServedAgents =
    values.agents === undefined
      ? { agents: [], tools: [] }
      : await loadServedAgents(values.agents, cwd);
  const url = values.store ?? DEFAULT_STORE;
  const store = await openStore(url);
  try {
    warnOfReaders(call, url);
    return await serveFrom(store, { call, served, address, limits });
  } finally {
    await store.close();
  }
}

interface Plan {
  readonly call: ServeCall;
  readonly served: ServedAgents;
  readonly address: { readonly port: number; readonly hostname: string };
  readonly limits: NonNullable<Parameters<typeof createServer>[0]['limits']>;
}

async function serveFrom(store: Store, plan: Plan): Promise<ExitCode> {
  const { call, served, address, limits } = plan;
  const { values, env, clock, stderr } = call;
  const onError = (error: unknown): void => {
    const { code, message } = failureJson(error);
    stderr.write(
      values.json
        ? `${JSON.stringify(failureJson(error))}\n`
        : `${code}: ${oneLine(message, Infinity)}\n`,
    );
  };
  const secretKey = secretKeySource(values.store ?? DEFAULT_STORE, call.cwd, env);
  const metrics = new Metrics(clock);
  const { tools: _, agents, builtIns: __, ...services } = served;
  const { builtIns, ...removing } = servedTools(call, served);
  await using runtime = await openManagedRuntime({
    ...services,
    store,
    env,
    modelOrigins: [...values['model-origin'], ...originsInFile(agents)],
    clock,
    observers: [metrics.observe, failureLog((failure) => writeFailure(call, failure))],
    ...removing,
    builtIns: workerTools(builtIns),
    onError,
  });
  await seedAgents({ runtime, store }, DEFAULT_WORKSPACE, agents);
  const server = await createServer({
    runtime,
    store,
    keys: 'as-made',
    limits,
    ...retryWindowIn(call),
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
  return await untilSignalled(call, { server, runtime, address });
}

/** Where the models of the file's own agents are: who wrote the file is the operator. */
function originsInFile(agents: readonly unknown[]): readonly string[] {
  return agents.flatMap((agent) => {
    const model = isJsonObject(agent) ? agent['model'] : undefined;
    const url = isJsonObject(model) ? model['base_url'] : undefined;
    return typeof url === 'string' && /^https?:/.test(url) ? (URL.parse(url)?.origin ?? []) : [];
  });
}

async function untilSignalled(
  call: ServeCall,
  {
    server,
    runtime,
    address,
  }: {
    readonly server: Server;
    readonly runtime: ManagedRuntime;
    readonly address: Plan['address'];
  },
): Promise<ExitCode> {
  const { clock, signals } = call;
  const { promise: asked, resolve: stop } = Promise.withResolvers<void>();
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
    await asked;
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
  const needsKey = await server.keys.areThere();
  const { data } = await runtime.listAgents({ limit: 100 });
  if (values.json) {
    const agents = data.map(({ id }) => id);
    stdout.write(`${JSON.stringify({ type: 'serving', url, store, needsKey, agents })}\n`);
    return;
  }
  const paint = paintFor(stdout, env);
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
function warnOfReaders({ cwd, stderr }: ServeCall, url: string): void {
  const parsed = parseStoreUrl(url);
  if (parsed.kind !== 'sqlite' || platform() === 'win32') return;
  const mode = statSync(resolve(cwd, parsed.file)).mode & 0o777;
  if ((mode & 0o077) !== 0)
    stderr.write(
      `${printable(parsed.file)} can be read by other users (mode ${mode.toString(8)}): chmod 600 unless they should.\n`,
    );
}

function portOf(given: string | undefined): number {
  const port = Number(given ?? DEFAULT_PORT);
  if (Number.isSafeInteger(port) && port >= 0 && port < 65_536 && given !== '') return port;
  throw new UsageError(`--port must be a number from 0 to 65535; it is "${given}".`, 'serve');
}

function limitsOf({ values }: ServeCall): Plan['limits'] {
  const bodyBytes = countOf('max-body', values['max-body']);
  const createsPerMinute = countOf('creates-per-minute', values['creates-per-minute']);
  const requestsPerMinute = countOf('requests-per-minute', values['requests-per-minute']);
  const failedKeysPerMinute = countOf('failed-keys-per-minute', values['failed-keys-per-minute']);
  return {
    ...(bodyBytes !== undefined && { bodyBytes }),
    ...(createsPerMinute !== undefined && { createsPerMinute }),
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(failedKeysPerMinute !== undefined && { failedKeysPerMinute }),
  };
}

function retryWindowIn({ values }: ServeCall): { readonly retryWindowMs?: number } {
  const given = values['retry-window'];
  if (given === undefined) return {};
  const ms = given === '0' ? 0 : parseDuration(given);
  if (ms !== undefined) return { retryWindowMs: ms };
  throw new UsageError(
    `--retry-window must be 0 or a duration such as 30s or 2m; it is "${given}".`,
    'serve',
  );
}

function countOf(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const count = Number(given);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new UsageError(`--${name} must be a whole number above 0; it is "${given}".`, 'serve');
}
