import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';

export interface PgBouncer {
  /** The same database through the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

const NOBODY = 65_534;

/**
 * Starts PgBouncer in transaction mode in front of a server, with so few connections that the transactions of one client
 * are on different ones. Undefined where it is not installed.
 * @param url a URL with a socket folder as `host`
 */
export async function startPgBouncer(url: string): Promise<PgBouncer | undefined> {
  if (spawnSync('pgbouncer', ['--version']).error !== undefined) return undefined;
  const [, database = '', host = ''] = /\/([^/?]*)\?host=(.*)$/.exec(url) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-bouncer-'));
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
${database} = host=${decodeURIComponent(host)} user=postgres
[pgbouncer]
listen_addr =
unix_socket_dir = ${folder}
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 500
`,
  );
  const isRoot = process.getuid?.() === 0;
  chmodSync(folder, 0o755);
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const server = spawn('pgbouncer', ['-q', file], {
    stdio: 'ignore',
    ...(isRoot && { uid: NOBODY, gid: NOBODY }),
  });
  const ended = once(server, 'exit');
  const kill = (): void => void server.kill('SIGKILL');
  process.once('exit', kill);
  const pooled = `postgres://postgres@/${database}?host=${encodeURIComponent(folder)}&port=6432`;
  await untilAnswering(pooled, () => server.exitCode === null);
  return {
    url: pooled,
    stop: async () => {
      kill();
      await ended;
      process.off('exit', kill);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function untilAnswering(url: string, isRunning: () => boolean): Promise<void> {
  for (;;) {
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (!isRunning()) throw error;
      await sleep(20);
    }
  }
}
