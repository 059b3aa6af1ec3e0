import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleProgram } from '../bundled-program.ts';
import type { LogEvent } from '../../src/core/index.ts';
import type { HostOptions, HostCommand, HostMessage } from './host-messages.ts';

const PROGRAM = await bundleProgram(new URL('host.ts', import.meta.url));

/** The host answered a command with an error, or died. */
export class HostCommandError extends Error {
  readonly code: string;
  readonly places: readonly string[];

  constructor({
    code,
    message,
    places = [],
  }: {
    code: string;
    message: string;
    places?: readonly string[];
  }) {
    super(message);
    this.code = code;
    this.places = places;
  }
}

/** A child process that hosts sessions. */
export class ChildHost implements AsyncDisposable {
  readonly pid: number;
  /** Resolves when the process has exited, for any reason. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Resolves when the process is about to open its store. */
  readonly awake: Promise<void>;
  /** Ids of the messages that it reported as accepted. */
  readonly accepted: string[] = [];
  readonly #child: ChildProcess;
  readonly #replies = new Map<
    number,
    { resolve: (value: never) => void; reject: (error: unknown) => void }
  >();
  readonly #messages: HostMessage[] = [];
  #commandCount = 0;
  #waiters: (() => void)[] = [];
  #gone = false;

  constructor(options: HostOptions) {
    this.#child = fork(PROGRAM, [JSON.stringify(options)], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [...process.execArgv, '--enable-source-maps'],
      // The compile cache saves most of the run time of a short process.
      env: { NODE_COMPILE_CACHE: join(tmpdir(), 'petrichor-compile-cache'), ...process.env },
    });
    this.pid = this.#child.pid ?? -1;
    const { promise, resolve } = Promise.withResolvers<Awaited<ChildHost['exited']>>();
    this.exited = promise;
    this.#child.once('exit', (code, signal) => resolve({ code, signal }));
    // `close`, because messages can arrive after `exit`.
    this.#child.once('close', () => this.#end());
    this.#child.on('message', (message: HostMessage) => this.#receive(message));
    this.awake = this.#until(() => this.#count('ready') >= 1);
  }

  /** Starts a host and waits until its runtime is open. */
  static async start(options: HostOptions): Promise<ChildHost> {
    const child = new ChildHost(options);
    await child.#until(() => child.#count('ready') >= 2);
    return child;
  }

  /**
   * Sends a command and resolves with the reply.
   * @throws HostCommandError for an error reply, or when the host dies first
   */
  async command<T = unknown>(command: HostCommand): Promise<T> {
    const id = ++this.#commandCount;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#replies.set(id, { resolve, reject });
    if (this.#gone) this.#end();
    else this.#child.send({ id, command }, (error) => error && this.#gone && this.#end());
    return promise;
  }

  /** Resolves when a tool that waits for `release` with this text has started. */
  async holding(text: string): Promise<void> {
    await this.#until(() =>
      this.#messages.some((message) => 'holding' in message && message.holding === text),
    );
  }

  /** Resolves with the first matching event of a watched session. */
  async event(session: string, matches: (event: LogEvent) => boolean): Promise<LogEvent> {
    const find = (): LogEvent | undefined => this.events(session).find(matches);
    await this.#until(() => find() !== undefined);
    const event = find();
    if (event === undefined) throw new Error('unreachable');
    return event;
  }

  /** The events of a watched session that have arrived so far. */
  events(session: string): readonly LogEvent[] {
    return this.#messages.flatMap((message) =>
      'event' in message && message.session === session ? [message.event] : [],
    );
  }

  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal);
  }

  /** Kills the process by SIGKILL and waits until it has exited. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
  }

  /** Closes the host cleanly. */
  async close(): Promise<void> {
    await this.command({ do: 'close' });
    await this.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  #count(key: string): number {
    return this.#messages.filter((message) => key in message).length;
  }

  #receive(message: HostMessage): void {
    if ('accepted' in message) this.accepted.push(message.accepted);
    if ('reply' in message) {
      const pending = this.#replies.get(message.reply);
      this.#replies.delete(message.reply);
      if ('error' in message) pending?.reject(new HostCommandError(message.error));
      else pending?.resolve(message.value as never);
    } else this.#messages.push(message);
    this.#wake();
  }

  #end(): void {
    this.#gone = true;
    const error = new HostCommandError({ code: 'died', message: 'The host is gone.' });
    for (const { reject } of this.#replies.values()) reject(error);
    this.#replies.clear();
    this.#wake();
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }

  async #until(isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      if (this.#gone) throw new HostCommandError({ code: 'died', message: 'The host is gone.' });
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }
}
