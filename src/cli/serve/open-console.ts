import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { omitUndefined } from '../../core/internal.ts';
import { openRuntime } from '../../runtime/index.ts';
import { ApiKeys, consoleHandler, createServer, listen } from '../../server/index.ts';
import type { Server } from '../../server/index.ts';
import { MemoryStore, parseStoreUrl } from '../../store/index.ts';
import type { CliContext, Signal } from '../command/cli-context.ts';
import type { CommandCall, Options, Switch, TextOption } from '../command/command.ts';
import { EXIT_OK, type ExitCode } from '../command/exit-code.ts';
import { UsageError } from '../command/usage-error.ts';
import { NoStoreError } from '../loading/existing-store.ts';
import { createPaint } from '../terminal/paint.ts';
import { printable } from '../terminal/printable.ts';
import { parsePort } from './parse-serve-options.ts';

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
    summary: 'Instead of a server: the SQLite file whose sessions are shown. It is copied first',
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
    close: async () => {},
  };
  return serveUntilSignal(call, server, port, (own) => [
    `${url} is shown. Start it with --allow-origin ${own}, so that it answers this page.`,
  ]);
}

async function showStore(call: ConsoleCall, url: string, port: number): Promise<ExitCode> {
  const { values, cwd, env, clock } = call;
  const file = parseSqliteFile(url, cwd);
  const folder = await mkdtemp(join(tmpdir(), 'petrichor-console-'));
  try {
    // Without agents, no session can run.
    await using runtime = await openRuntime({
      agents: [],
      store: `sqlite:${await copyStore(file, folder)}`,
      app: values.app ?? DEFAULT_APP,
      clock,
    });
    const files = findFiles(env);
    const server = await createServer({
      runtime,
      keys: 'off',
      readOnly: true,
      console: files === undefined ? true : { files },
      clock,
    });
    return await serveUntilSignal(call, server, port, () => [
      `A copy of ${file} is shown. Nothing runs, and nothing can be changed.`,
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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

/** @throws UsageError for a store that is no file; NoStoreError if it does not exist */
function parseSqliteFile(url: string, cwd: string): string {
  const parsed = parseStoreUrl(url);
  if (parsed.kind !== 'sqlite')
    throw new UsageError(
      '--store must be a SQLite file, such as sqlite:petrichor.db. For another store, use --server with its server.',
      'console',
    );
  const file = resolve(cwd, parsed.file);
  if (!existsSync(file)) throw new NoStoreError(url, `There is no store at ${parsed.file}.`);
  return file;
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
