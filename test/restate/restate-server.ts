import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../free-port.ts';

const resolve = createRequire(import.meta.url).resolve;

/** The server program for this platform. Undefined: there is none, or it is not installed. */
function findProgram(): string | undefined {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  try {
    return resolve(`${name}/bin/restate-server`);
  } catch {
    return undefined;
  }
}

/** A Restate server of one node, on free ports of this machine. */
export class RestateServer {
  readonly ingress: string;
  readonly #admin: string;
  readonly #program: string;
  readonly #env: Record<string, string | undefined>;
  readonly #folder: string;
  #child: ChildProcess | undefined;
  #publicKey = '';

  /**
   * Undefined: there is no server program for this platform.
   * @param identity true to sign what it sends, with a new key
   */
  static async start(identity = false): Promise<RestateServer | undefined> {
    const program = findProgram();
    if (program === undefined) return undefined;
    const [ingress, admin, fabric] = [await freePort(), await freePort(), await freePort()];
    const server = new RestateServer(program, { ingress, admin, fabric });
    if (identity) server.#createIdentity();
    await server.restart();
    return server;
  }

  private constructor(
    program: string,
    ports: { readonly ingress: number; readonly admin: number; readonly fabric: number },
  ) {
    this.#program = program;
    this.ingress = `http://127.0.0.1:${ports.ingress}`;
    this.#admin = `http://127.0.0.1:${ports.admin}`;
    this.#folder = mkdtempSync(join(tmpdir(), 'petrichor-restate-'));
    this.#env = {
      PATH: process.env['PATH'],
      RESTATE_BASE_DIR: this.#folder,
      RESTATE_NODE_NAME: 'one',
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_BIND_IP: '127.0.0.1',
      RESTATE_BIND_PORT: `${ports.fabric}`,
      RESTATE_ADVERTISED_HOST: '127.0.0.1',
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ports.ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${ports.admin}`,
      RESTATE_DEFAULT_NUM_PARTITIONS: '4',
      RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: '256MB',
      RESTATE_DISABLE_TELEMETRY: 'true',
      DO_NOT_TRACK: '1',
    };
  }

  /** The public key of its request identity. Empty: it has none. */
  get publicKey(): string {
    return this.#publicKey;
  }

  #createIdentity(): void {
    const { privateKey } = generateKeyPairSync('ed25519');
    const file = join(this.#folder, 'identity.pem');
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    this.#env['RESTATE_WORKER__INVOKER__REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE'] = file;
  }

  /** Starts the server, after ending the one that runs with SIGKILL. Its data stay. */
  async restart(): Promise<void> {
    await this.kill();
    const child = spawn(this.#program, ['--no-logo'], {
      env: this.#env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.#child = child;
    child.stdout.on('data', (chunk: Buffer) => {
      this.#publicKey = /publickeyv1_\w+/.exec(chunk.toString())?.[0] ?? this.#publicKey;
    });
    while (!(await isReady(this.#admin)) || !(await isReady(`${this.ingress}/restate`))) {
      if (child.exitCode !== null) throw new Error(`restate-server ended with ${child.exitCode}`);
      await sleep(20);
    }
  }

  /** Makes a service known, that listens at this port. */
  async register(port: number): Promise<void> {
    const response = await fetch(`${this.#admin}/deployments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ uri: `http://127.0.0.1:${port}`, use_http_11: true, force: true }),
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`)).ok;
  } catch {
    return false;
  }
}
