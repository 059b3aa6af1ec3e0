import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { runCli } from '../../src/cli/cli.ts';
import type { CliContext, Signal } from '../../src/cli/command/cli-context.ts';
import { systemClock } from '../../src/net/index.ts';
import type { Clock } from '../../src/net/index.ts';

const ERASE_LINE = '\r\u001b[2K';

/** Collects what a command writes, and notifies watchers. */
export class Output extends Writable {
  readonly isTTY: boolean;
  declare readonly columns?: number;
  raw = '';
  readonly #watchers = new Set<() => void>();

  constructor(columns?: number) {
    super();
    this.isTTY = columns !== undefined;
    if (columns !== undefined) this.columns = columns;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.raw += chunk.toString();
    for (const watcher of this.#watchers) watcher();
    done();
  }

  /** What a person reads at the end: without colors, and without lines that were overwritten. */
  get text(): string {
    const left = this.raw.split('\n').map((line) => line.split(ERASE_LINE).at(-1));
    return stripVTControlCharacters(left.join('\n'));
  }

  /** Every line, parsed as JSON. */
  get json(): readonly Record<string, unknown>[] {
    const lines = this.raw.split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /**
   * Resolves as soon as the text matches, or the function returns true. The test's own timeout ends a wait that is never
   * fulfilled.
   */
  async shows(what: RegExp | string | (() => boolean)): Promise<void> {
    const is = (): boolean => {
      if (typeof what === 'function') return what();
      return typeof what === 'string' ? this.text.includes(what) : what.test(this.text);
    };
    if (is()) return;
    await new Promise<void>((resolve) => {
      const watcher = (): void => {
        if (!is()) return;
        this.#watchers.delete(watcher);
        resolve();
      };
      this.#watchers.add(watcher);
    });
  }
}

export interface RunOptions {
  /** The lines of the input, which then ends. Without it, a person types. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly clock?: Clock;
  /** Default: there are no processes. */
  readonly signalProcess?: CliContext['signalProcess'];
}

/** A running command with its streams. */
export interface Running {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly exit: Promise<number>;
  readonly type: (text: string) => void;
  /** Ends the input. */
  readonly hangUp: () => void;
  readonly signal: (signal: Signal) => void;
  /** The number of signals with a listener. */
  readonly listened: () => number;
}

const root = mkdtempSync(join(tmpdir(), 'petrichor-cli-'));
process.once('exit', () => rmSync(root, { recursive: true, force: true }));

/** For the processes that a command starts: without the cache of this run they compile the package again. */
const compileCache = Object.fromEntries(
  ['NODE_COMPILE_CACHE', 'NODE_OPTIONS'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);

/** An empty folder in which commands run. It is removed after the tests. */
export class CommandFolder {
  readonly path: string = mkdtempSync(join(root, 'folder-'));

  /** The URL of a store in this folder. */
  get store(): string {
    return `sqlite:${join(this.path, 'sessions.db')}`;
  }

  write(name: string, text: string): string {
    writeFileSync(join(this.path, name), text);
    return join(this.path, name);
  }

  /** Starts a command whose input is a terminal, or the given text. */
  start(
    args: readonly string[],
    {
      input,
      env = {},
      columns = 80,
      clock = systemClock,
      signalProcess = () => false,
    }: RunOptions = {},
  ): Running {
    const isTerminal = input === undefined;
    const stdin = Object.assign(new PassThrough(), { isTTY: isTerminal });
    const stdout = new Output(isTerminal ? columns : undefined);
    const stderr = new Output();
    const signals = new EventEmitter();
    if (input !== undefined) stdin.end(input);
    const exit = runCli({
      args,
      env: { ...compileCache, ...env },
      cwd: this.path,
      stdin,
      stdout,
      stderr,
      clock,
      signals,
      signalProcess,
      version: '1.2.3',
    });
    return {
      stdout,
      stderr,
      exit,
      type: (text) => void stdin.write(text),
      hangUp: () => void stdin.end(),
      signal: (signal) => void signals.emit(signal),
      listened: () => signals.eventNames().length,
    };
  }

  /** Runs a command to its end, with the given text as input. */
  async run(args: readonly string[], input = ''): Promise<Running & { readonly code: number }> {
    const running = this.start(args, { input });
    return { ...running, code: await running.exit };
  }
}
