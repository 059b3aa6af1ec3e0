import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';

/** A MySQL or MariaDB server for tests. */
export interface MysqlServer {
  readonly url: string;
  /** Kills the server and starts it again. Undefined for an external server. */
  readonly restart?: () => Promise<void>;
  stop(): Promise<void>;
}

/** Why tests are skipped when there is no server. */
export const NO_SERVER = 'no mariadbd on this machine, and no PETRICHOR_TEST_MYSQL_URL';

/**
 * Creates an empty database on the server of `PETRICHOR_TEST_MYSQL_URL`, or starts a server of the Debian package
 * `mariadb-server`, on a socket in a temporary folder. Undefined when there is none.
 * @param options `restartable` starts a server of its own in any case, if there is a package
 */
export async function startMysqlServer({
  restartable = false,
}: { readonly restartable?: boolean } = {}): Promise<MysqlServer | undefined> {
  const url = process.env['PETRICHOR_TEST_MYSQL_URL'];
  const program = ['/usr/sbin/mariadbd', '/usr/local/sbin/mariadbd'].find(existsSync);
  const install = ['/usr/bin/mariadb-install-db', '/usr/local/bin/mariadb-install-db'].find(
    existsSync,
  );
  const isInstalled = program !== undefined && install !== undefined;
  if (url !== undefined && !(restartable && isInstalled)) return createDatabase(url);
  if (!isInstalled) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-my-'));
  const data = join(folder, 'data');
  mkdirSync(data);
  const user = userInfo().username;
  const installed = spawnSync(install, [
    '--no-defaults',
    `--datadir=${data}`,
    `--user=${user}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
  ]);
  if (installed.status !== 0) throw new Error(`mariadb-install-db: ${String(installed.stderr)}`);
  const socket = join(folder, 'server.sock');
  const start = (): ChildProcess =>
    spawn(
      program,
      [
        '--no-defaults',
        `--datadir=${data}`,
        `--user=${user}`,
        `--socket=${socket}`,
        '--skip-networking',
        `--pid-file=${join(folder, 'pid')}`,
        // A commit survives a kill of the server, not of the machine.
        '--innodb-flush-log-at-trx-commit=2',
        '--innodb-buffer-pool-size=32M',
        '--max-connections=300',
        '--skip-log-bin',
        '--performance-schema=OFF',
      ],
      { stdio: 'ignore' },
    );
  let server = start();
  let ended = once(server, 'exit');
  // The server must not outlive this process, however it ends.
  const kill = (): void => void server.kill('SIGKILL');
  const terminated = (): void => {
    kill();
    process.exit(143);
  };
  process.once('exit', kill);
  process.once('SIGTERM', terminated);
  const serverUrl = `mysql://root@localhost/petrichor?socketPath=${encodeURIComponent(socket)}`;
  try {
    await query(serverUrl, 'CREATE DATABASE petrichor', () => server.exitCode === null);
  } catch (error) {
    kill();
    throw error;
  }
  return {
    url: serverUrl,
    restart: async () => {
      kill();
      await ended;
      server = start();
      ended = once(server, 'exit');
      await query(serverUrl, 'SELECT 1', () => server.exitCode === null);
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

/** A database that no other test file uses, so that a test can break all of its connections. */
async function createDatabase(serverUrl: string): Promise<MysqlServer> {
  const name = `petrichor_test_${process.pid}_${databases++}`;
  await query(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return { url: url.href, stop: async () => query(serverUrl, `DROP DATABASE IF EXISTS ${name}`) };
}

/** Opens a connection for statements of a test. */
export async function connectMysql(
  url: string,
): Promise<Awaited<ReturnType<typeof createConnection>>> {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const socketPath = searchParams.get('socketPath');
  return createConnection({
    host: hostname,
    port: Number(port || 3306),
    user: username,
    password,
    database: pathname.slice(1),
    multipleStatements: true,
    ...(socketPath !== null && { socketPath }),
  });
}

/** Runs a statement without a database, as soon as the server answers. */
async function query(
  url: string,
  sql: string,
  isRunning: () => boolean = () => false,
): Promise<void> {
  const server = new URL(url);
  server.pathname = '/';
  for (;;) {
    try {
      const client = await connectMysql(server.href);
      await client.query(sql);
      await client.end();
      return;
    } catch (error) {
      if (!isRunning() || (error as { readonly sqlState?: string }).sqlState !== undefined)
        throw error;
      await setTimeout(20);
    }
  }
}
