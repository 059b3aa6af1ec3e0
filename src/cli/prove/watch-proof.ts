import { fork, type ChildProcess } from 'node:child_process';
import { resolve } from 'node:path';
import { packageProgram } from '../../core/internal.ts';
import type { CliContext } from '../command/cli-context.ts';
import { EXIT_FAILURE, EXIT_OK, type ExitCode } from '../command/exit-code.ts';
import { FileWatcher, listReportedFiles, REPORT_FILES } from '../loading/file-watcher.ts';

/** How long after an interrupt the child may still run. */
const GRACE_MS = 2_000;

/**
 * Proves in a child process, and again in another one each time the module or a file that it imports changes. A process
 * of its own is needed because a module is loaded once in a process. Ends on Ctrl-C.
 */
export async function watchProof(context: CliContext, file: string): Promise<ExitCode> {
  const { cwd, clock, signals } = context;
  const { promise: stopped, resolve: stop } = Promise.withResolvers<ExitCode>();
  const onSignal = (): void => stop(EXIT_OK);
  const watcher = new FileWatcher(clock, () => session.restart());
  const session = new WatchedProof(context, (path, since) => watcher.add(path, since), stop);
  signals.on('SIGINT', onSignal);
  signals.on('SIGTERM', onSignal);
  try {
    watcher.add(resolve(cwd, file), clock.now());
    session.restart();
    return await stopped;
  } finally {
    signals.off('SIGINT', onSignal);
    signals.off('SIGTERM', onSignal);
    watcher.close();
    await session.close();
  }
}

/** The process that proves now, or has proved last. */
class WatchedProof {
  readonly #context: CliContext;
  readonly #onFile: (file: string, since: number) => void;
  readonly #onFailedStart: (code: ExitCode) => void;
  #running: { readonly child: ChildProcess; readonly ended: Promise<void> } | undefined;
  #restarting: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(
    context: CliContext,
    onFile: (file: string, since: number) => void,
    onFailedStart: (code: ExitCode) => void,
  ) {
    this.#context = context;
    this.#onFile = onFile;
    this.#onFailedStart = onFailedStart;
  }

  /** Ends the process that proves, and starts the next. */
  restart(): void {
    this.#restarting = this.#replace(this.#restarting);
  }

  async #replace(restarting: Promise<void>): Promise<void> {
    await restarting;
    await this.#stop();
    if (!this.#isClosed) this.#start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#restarting;
    await this.#stop();
  }

  #start(): void {
    const { args, cwd, env, stdout, stderr, clock } = this.#context;
    const startedAt = clock.now();
    const rest = args.filter((argument) => argument !== '--watch');
    const child = fork(packageProgram('cli/main'), ['prove', ...rest], {
      cwd,
      env: { ...env, ...REPORT_FILES },
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // Ctrl-C in the terminal reaches this process only, which then ends the child.
      detached: true,
    });
    const { promise: ended, resolve: setEnded } = Promise.withResolvers<void>();
    child.on('message', (message) => {
      for (const file of listReportedFiles(message)) this.#onFile(resolve(cwd, file), startedAt);
    });
    child.stdout?.on('data', (chunk: Buffer) => stdout.write(chunk));
    child.stderr?.on('data', (chunk: Buffer) => stderr.write(chunk));
    child.on('error', () => {
      this.#onFailedStart(EXIT_FAILURE);
      setEnded();
    });
    child.on('close', () => setEnded());
    this.#running = { child, ended };
  }

  async #stop(): Promise<void> {
    if (this.#running === undefined) return;
    const { child, ended } = this.#running;
    const { clock } = this.#context;
    child.kill('SIGTERM');
    const cancelKill = clock.at(clock.now() + GRACE_MS, () => void child.kill('SIGKILL'));
    await ended;
    cancelKill();
  }
}
