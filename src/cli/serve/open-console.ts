import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { omitUndefined } from '../../core/internal.ts';
import { ApiKeys, consoleHandler, createServer, listen } from '../../server/index.ts';
import type { Server } from '../../server/index.ts';
import { MemoryStore, openStore, parseStoreUrl } from '../../store/index.ts';
import type { Store } from '../../store/index.ts';
import { readOnlyStore } from '../../store/internal.ts';
import type { CliContext, Signal } from '../command/cli-context.ts';
import type { CommandCall } from '../command/command.ts';
import type { Options, Switch, TextOption } from '../command/options.ts';
import { EXIT_OK, type ExitCode } from '../command/exit-code.ts';
import { UsageError } from '../command/usage-error.ts';
import { NoStoreError } from '../loading/existing-store.ts';
import { createPaint } from '../terminal/paint.ts';
import { printable } from '../terminal/printable.ts';
import { openReadingRuntime } from './open-reading-runtime.ts';
import { parsePort } from './parse-serve-options.ts';
import { loadServedAgents, NO_AGENTS } from './served-agents.ts';
import type { ServedAgents } from './served-agents.ts';

const DEFAULT_PORT = '8788';
const DEFAULT_APP = 'managed';
const DEFAULT_SERVER = 'http://127.0.0.1:8787';

/** The options of `petrichor console`. */
export interface ConsoleCommandOptions extends Options {
  readonly server: TextOption;
  readonly store: TextOption;
  readonly app: TextOption;
  readonly port: TextOption;
  readonly 'read-only': Switch;
}

export const consoleOptions: ConsoleCommandOptions = {
  server: {
    type: 'string',
    value: 'URL',
    summary: `The server whose sessions are shown. Default: ${DEFAULT_SERVER}`,
  },
  store: {
    type: 'string',
    value: 'URL',
    summary:
      'Instead of a server: the SQLite file, or the PostgreSQL or MySQL database, whose sessions are shown. A file is copied first',
  },
  app: {
    type: 'string',
    value: 'NAME',
    summary: `With --store: the application whose sessions are shown: petrichor for those of petrichor run. Default: ${DEFAULT_APP}`,
  },
  port: {
    type: 'string',
    value: 'N',
    summary: `The port of the console; 0 for any free one. Default: ${DEFAULT_PORT}`,
  },
  'read-only': { type: 'boolean', summary: 'Hide everything that changes something' },
};

export type ConsoleCall = CommandCall<ConsoleCommandOptions>;

/** Serves the console on this machine until a signal: for another server, or for a copy of a store. */
export async function openConsole(call: ConsoleCall): Promise<ExitCode> {
  const { values } = call;
  const { server, store } = values;
  const port = parsePort(values.port ?? DEFAULT_PORT);
  if (server !== undefined && store !== undefined)
    throw new UsageError('--server and --store exclude each other. Use one of them.', 'console');
  if (store !== undefined) return showStore(call, store, port);
  if (call.operands.length > 0)
    throw new UsageError('A file of agents is allowed only with --store.', 'console');
  if (values.app !== undefined)
    throw new UsageError('--app is allowed only with --store.', 'console');
  return showServer(call, parseServerUrl(server ?? DEFAULT_SERVER), port);
}

/** This process sends nothing to the server: the browser does. */
async function showServer(call: ConsoleCall, url: string, port: number): Promise<ExitCode> {
  const { values, env, clock } = call;
  const handle = consoleHandler({
    serverUrl: url,
    readOnly: values['read-only'],
    ...omitUndefined({ files: findFiles(env) }),
  });
  const server: Server = {
    fetch: async (request) =>
      new URL(request.url).pathname === '/'
        ? new Response(null, { status: 302, headers: { location: '/console/' } })
        : handle(request),
    keys: new ApiKeys(new MemoryStore(), clock),
    drain: async () => {},
    close: async () => {},
  };
  return serveUntilSignal(call, server, port, (own) => [
    `${url} is shown. Start it with --allow-origin ${own}, so that it answers this page.`,
  ]);
}

/** Shows the sessions of a store. Nothing runs: no session can be claimed, and nothing is written. */
async function showStore(call: ConsoleCall, url: string, port: number): Promise<ExitCode> {
  const { cwd, operands } = call;
  const [file] = operands;
  const served = file === undefined ? NO_AGENTS : await loadServedAgents(file, cwd);
  const parsed = parseStoreUrl(url);
  if (parsed.kind === 'memory')
    throw new UsageError(
      '--store must be a SQLite file, or a PostgreSQL or MySQL database, such as sqlite:petrichor.db. A store in memory ends with its program.',
      'console',
    );
  if (parsed.kind === 'postgres') {
    await using store = await openToRead(toReadingUrl(parsed.url), 'postgres');
    return await serveStore(call, { store, served, port, text: 'The PostgreSQL store is shown.' });
  }
  if (parsed.kind === 'mysql') {
    // The database itself refuses what would change it.
    const reading = `${parsed.url}${parsed.url.includes('?') ? '&' : '?'}readOnly=true`;
    await using store = await openToRead(reading, 'mysql');
    return await serveStore(call, { store, served, port, text: 'The MySQL store is shown.' });
  }
  const source = resolve(cwd, parsed.file);
  if (!existsSync(source)) throw new NoStoreError(url, `There is no store at ${parsed.file}.`);
  const folder = await mkdtemp(join(tmpdir(), 'petrichor-console-'));
  try {
    await using store = await openToRead(`sqlite:${await copyStore(source, folder)}`, source);
    return await serveStore(call, { store, served, port, text: `A copy of ${source} is shown.` });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function openToRead(url: string, location: string): Promise<Store & AsyncDisposable> {
  const store = readOnlyStore(await openStore(url), location);
  return { ...store, [Symbol.asyncDispose]: async () => store.close() };
}

/** The database itself refuses what would change it. The URL may have no host, so `URL` cannot parse it. */
function toReadingUrl(url: string): string {
  const [address = '', query = ''] = url.split('?');
  const parameters = new URLSearchParams(query);
  const options = parameters.get('options') ?? '';
  parameters.set('options', `${options} -c default_transaction_read_only=on`.trim());
  return `${address}?${parameters.toString().replaceAll('+', '%20')}`;
}

async function serveStore(
  call: ConsoleCall,
  {
    store,
    served,
    port,
    text,
  }: {
    readonly store: Store;
    readonly served: ServedAgents;
    readonly port: number;
    readonly text: string;
  },
): Promise<ExitCode> {
  const { values, env, clock } = call;
  await using runtime = await openReadingRuntime({
    app: values.app ?? DEFAULT_APP,
    store,
    served,
    clock,
  });
  const files = findFiles(env);
  const server = await createServer({
    runtime,
    store,
    keys: 'off',
    readOnly: true,
    console: files === undefined ? true : { files },
    clock,
  });
  const agents =
    served.code.length === 0
      ? ['Name the file of the agents to see their nets: petrichor console --store URL FILE']
      : [];
  return await serveUntilSignal(call, server, port, () => [
    `${text} Nothing runs, and nothing can be changed.`,
    ...agents,
  ]);
}

/** Copies a SQLite file with its write-ahead log. Opening the file itself would write beside it. */
async function copyStore(file: string, folder: string): Promise<string> {
  const copy = join(folder, basename(file));
  for (const suffix of ['', '-wal']) {
    if (!existsSync(`${file}${suffix}`)) continue;
    await copyFile(`${file}${suffix}`, `${copy}${suffix}`);
    await chmod(`${copy}${suffix}`, 0o600);
  }
  return copy;
}

/** @throws UsageError for a URL that is not the base URL of a server */
function parseServerUrl(text: string): string {
  const url = URL.parse(text);
  const isBase =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    url.search === '' &&
    url.hash === '';
  if (!isBase)
    throw new UsageError(
      `--server must be an http(s) URL without a user, a query and a fragment; it is "${text.replace(/\/\/[^/@]*@/, '//…@')}".`,
      'console',
    );
  return url.href.endsWith('/') ? url.href : `${url.href}/`;
}

/** A build of the console other than that of the package. */
function findFiles({ PETRICHOR_CONSOLE_FILES: files = '' }: CliContext['env']): string | undefined {
  return files === '' ? undefined : files;
}

async function serveUntilSignal(
  { values, signals, stdout, env, clock }: ConsoleCall,
  server: Server,
  port: number,
  describe: (origin: string) => readonly string[],
): Promise<ExitCode> {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const listened: readonly Signal[] = ['SIGINT', 'SIGTERM'];
  const onSignal = (): void => stop();
  for (const signal of listened) signals.on(signal, onSignal);
  try {
    await using listening = await listen(server, { port, keysRequired: false, clock });
    const url = `${listening.url}/console/`;
    if (values.json) stdout.write(`${JSON.stringify({ type: 'console', url })}\n`);
    else {
      stdout.write(`Console: ${createPaint(stdout, env)('bold', url)}\n`);
      for (const line of describe(listening.url)) stdout.write(`${printable(line)}\n`);
    }
    await stopped;
  } finally {
    for (const signal of listened) signals.off(signal, onSignal);
  }
  return EXIT_OK;
}
