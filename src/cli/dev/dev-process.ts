import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { packageProgram } from '../../core/internal.ts';
import type { CliContext } from '../command/cli-context.ts';
import { listReportedFiles, REPORT_FILES } from '../loading/file-watcher.ts';
import { parseControlLine } from './control-line.ts';

/** How long a server may take to end, in milliseconds. A running tool call settles meanwhile. */
const GRACE_MS = 5000;

export interface DevProcessEvents {
  /** A file that the process has loaded since this time. The report may come much later. */
  readonly onFile: (file: string, since: number) => void;
  readonly onListening: (url: string, port: number) => void;
}

/**
 * A server in a process of its own, because a module is loaded once in a process. It loads the file, then waits for
 * `listen`, so the server before it goes on until then.
 */
export class DevProcess {
  readonly #child: ChildProcess;
  readonly #clock: CliContext['clock'];
  /** Resolves with true when the file is loaded, and with false when the process ends before. */
  readonly loaded: Promise<boolean>;
  /** Resolves with the exit code when the process has ended. */
  readonly ended: Promise<number>;
  hasEnded = false;
  hasListened = false;

  constructor(
    { args, cwd, env, stdout, stderr, clock }: CliContext,
    { onFile, onListening }: DevProcessEvents,
  ) {
    this.#clock = clock;
    const startedAt = clock.now();
    const program = packageProgram('cli/main');
    const ownFolder = fileURLToPath(new URL('../', program));
    const child = fork(program, ['dev-server', ...args], {
      cwd,
      env: { ...env, ...REPORT_FILES },
      execArgv: [],
      stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
      // Ctrl-C in the terminal reaches this process only, which then ends the server.
      detached: true,
    });
    this.#child = child;
    const { promise: loaded, resolve: setLoaded } = Promise.withResolvers<boolean>();
    const { promise: ended, resolve: setEnded } = Promise.withResolvers<number>();
    this.loaded = loaded;
    this.ended = ended;
    child.on('message', (message) => {
      for (const file of listReportedFiles(message))
        if (!file.startsWith(ownFolder)) onFile(resolve(cwd, file), startedAt);
    });
    child.stderr?.on('data', (chunk: Buffer) => stderr.write(chunk));
    // A process that ends does not read its input.
    child.stdin?.on('error', () => {});
    if (child.stdout !== null)
      createInterface({ input: child.stdout }).on('line', (text) => {
        const line = parseControlLine(text);
        if (line === undefined) stdout.write(`${text}\n`);
        else if (line.dev === 'loaded') setLoaded(true);
        else {
          this.hasListened = true;
          onListening(line.url, line.port);
        }
      });
    const end = (code: number): void => {
      this.hasEnded = true;
      setLoaded(false);
      setEnded(code);
    };
    child.on('error', () => end(1));
    child.on('close', (code) => end(code ?? 1));
  }

  /** Opens the store, and listens: on the port of its options, or on this one. */
  listen(port: number | undefined): void {
    this.#child.stdin?.write(`${port ?? ''}\n`);
  }

  /** Ends the server. Its sessions go on in the next one. */
  async stop(): Promise<void> {
    if (this.hasEnded) return;
    this.#child.kill('SIGTERM');
    const cancel = this.#clock.at(this.#clock.now() + GRACE_MS, () => {
      this.#child.kill('SIGKILL');
    });
    await this.ended;
    cancel();
  }
}
