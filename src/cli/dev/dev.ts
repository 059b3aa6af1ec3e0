import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { AgentModuleError } from '../loading/agent-module-error.ts';
import type { Signal } from '../command/cli-context.ts';
import { FileWatcher } from '../loading/file-watcher.ts';
import { EXIT_FAILURE, EXIT_OK, EXIT_USAGE, type ExitCode } from '../command/exit-code.ts';
import { printable } from '../terminal/printable.ts';
import type { DevCall } from './dev-options.ts';
import { DevProcess } from './dev-process.ts';
import { openBrowser } from './open-browser.ts';

/** Serves a file with the console, and again after each change of it or of a file that it imports, until a signal. */
export async function dev(call: DevCall): Promise<ExitCode> {
  const { cwd, clock, signals, operands } = call;
  const [file = ''] = operands;
  if (!existsSync(resolve(cwd, file)))
    throw new AgentModuleError(file, 'missing', 'does not exist. Check the path.');
  const { promise: stopped, resolve: stop } = Promise.withResolvers<ExitCode>();
  const onSignal = (): void => stop(EXIT_OK);
  const listened: readonly Signal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of listened) signals.on(signal, onSignal);
  const session = new DevSession(call, stop);
  const watcher = new FileWatcher(clock, () => session.change());
  session.onFile = (path, since) => watcher.add(path, since);
  try {
    watcher.add(resolve(cwd, file), clock.now());
    session.change();
    return await stopped;
  } finally {
    for (const signal of listened) signals.off(signal, onSignal);
    watcher.close();
    await session.close();
  }
}

/** The server that runs, and the one that will replace it. */
class DevSession {
  readonly #call: DevCall;
  readonly #stop: (code: ExitCode) => void;
  onFile: (file: string, since: number) => void = () => {};
  #current: DevProcess | undefined;
  #next: DevProcess | undefined;
  #port: number | undefined;
  #isClosed = false;
  #replacing: Promise<void> = Promise.resolve();

  constructor(call: DevCall, stop: (code: ExitCode) => void) {
    this.#call = call;
    this.#stop = stop;
  }

  /** Loads the file in a new process. If that succeeds, it replaces the server. */
  change(): void {
    const before = this.#next;
    const next = new DevProcess(this.#call, {
      onFile: (path, since) => this.onFile(path, since),
      onListening: (url, port) => {
        if (this.#port === undefined && !this.#call.values['no-open'])
          openBrowser(`${url}/console/`, this.#call);
        this.#port = port;
      },
    });
    this.#next = next;
    this.#replacing = this.#replace(next, before, this.#replacing);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#next?.stop(), this.#current?.stop()]);
  }

  /** It cannot fail: a process that does not start has ended. */
  async #replace(
    next: DevProcess,
    superseded: DevProcess | undefined,
    replacing: Promise<void>,
  ): Promise<void> {
    await superseded?.stop();
    await replacing;
    const isLoaded = await next.loaded;
    if (this.#next !== next || this.#isClosed) return;
    this.#next = undefined;
    if (!isLoaded) {
      const code = await next.ended;
      // Another file does not correct the command line.
      if (code === EXIT_USAGE) this.#stop(code);
      const isServed = this.#current !== undefined && !this.#current.hasEnded;
      this.#report(
        isServed
          ? 'The version before keeps running. Correct the file.'
          : 'Nothing is served. Correct the file.',
      );
      return;
    }
    const before = this.#current;
    const isReload = before !== undefined;
    this.#current = next;
    await before?.stop();
    if (isReload) this.#report('Reloaded.');
    next.listen(this.#port);
    void this.#watchEnd(next, isReload);
  }

  async #watchEnd(server: DevProcess, isReload: boolean): Promise<void> {
    const code = await server.ended;
    if (this.#current !== server || this.#isClosed) return;
    // It could not serve at all: the port is in use, or a package is missing.
    if (!server.hasListened && !isReload) this.#stop(code === 0 ? EXIT_FAILURE : code);
    else this.#report('The server has ended. It starts again when a file changes.');
  }

  #report(text: string): void {
    const { values, stderr, operands } = this.#call;
    const message = `${printable(operands[0] ?? '')}: ${text}`;
    stderr.write(values.json ? `${JSON.stringify({ type: 'dev', message })}\n` : `${message}\n`);
  }
}
