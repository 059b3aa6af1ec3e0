import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

export interface ServeOptions {
  readonly folder: string;
  /** The program. Default: that of this checkout. */
  readonly main?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** `petrichor serve` in a separate process. */
export class ServeProcess implements AsyncDisposable {
  readonly url: string;
  readonly agents: readonly string[];
  /** Its output: one JSON object per line. */
  readonly lines: readonly Record<string, unknown>[];
  readonly #child: ChildProcess;
  readonly #stderr: string[];

  private constructor(
    child: ChildProcess,
    lines: Record<string, unknown>[],
    stderr: string[],
    serving: Record<string, unknown>,
  ) {
    this.#child = child;
    this.#stderr = stderr;
    this.lines = lines;
    this.url = String(serving['url']);
    this.agents = serving['agents'] as readonly string[];
  }

  /** Resolves when it listens. Rejects with its output if it exits before. */
  static async start({
    folder,
    main = MAIN,
    args = [],
    env = {},
  }: ServeOptions): Promise<ServeProcess> {
    const child = spawn(process.execPath, [main, 'serve', '--json', ...args], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const lines: Record<string, unknown>[] = [];
    const stderr: string[] = [];
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk.toString()));
    const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = JSON.parse(text) as Record<string, unknown>;
      lines.push(line);
      if (line['type'] === 'serving') resolve(line);
    });
    child.once('close', () => reject(new Error(`It ended: ${stderr.join('')}`)));
    return new ServeProcess(child, lines, stderr, await promise);
  }

  get port(): string {
    return new URL(this.url).port;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get stderr(): string {
    return this.#stderr.join('');
  }

  /** Stops or continues the process. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal);
  }

  /** Its exit code, or the signal that ended it. */
  async end(signal: NodeJS.Signals): Promise<number | string> {
    if (this.#child.exitCode !== null) return this.#child.exitCode;
    const closed = once(this.#child, 'close');
    this.#child.kill(signal);
    const [code, by]: unknown[] = await closed;
    return typeof code === 'number' ? code : String(by);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.end('SIGKILL');
  }
}
