import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogEvent } from '../../src/core/index.ts';
import type { HostOptions, HostCommand, HostMessage } from './host-messages.ts';

/** The host answered an order with an error. */
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

/** A process that hosts sessions, as its parent sees it. */
export class ChildHost implements AsyncDisposable {
  readonly pid: number;
  /** Resolves when the process is gone, whatever ended it. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Resolves when it is about to open its store: from here on, its death matters. */
  readonly awake: Promise<void>;
  /** Messages it says are accepted. */
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
    this.#child = fork(new URL('host.ts', import.meta.url), [JSON.stringify(options)], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      // Starting is most of what a short life costs.
      env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'petrichor-compile-cache') },
    });
    this.pid = this.#child.pid ?? -1;
    const { promise, resolve } = Promise.withResolvers<Awaited<ChildHost['exited']>>();
    this.exited = promise;
    this.#child.once('exit', (code, signal) => resolve({ code, signal }));
    // After the last message, which may come after the exit.
    this.#child.once('close', () => this.#end());
    this.#child.on('message', (told: HostMessage) => this.#receive(told));
    this.awake = this.#until(() => this.#count('ready') >= 1);
  }

  /** A host whose runtime is open. */
  static async start(options: HostOptions): Promise<ChildHost> {
    const child = new ChildHost(options);
    await child.#until(() => child.#count('ready') >= 2);
    return child;
  }

  /** Resolves with the host's answer. @throws HostCommandError with its error, and when it dies first */
  async command<T = unknown>(order: HostCommand): Promise<T> {
    const id = ++this.#commandCount;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#replies.set(id, { resolve, reject });
    if (this.#gone) this.#end();
    else this.#child.send({ id, order }, (error) => error && this.#gone && this.#end());
    return promise;
  }

  /** Resolves when a tool that waits to be released under this name has begun. */
  async holding(text: string): Promise<void> {
    await this.#until(() =>
      this.#messages.some((told) => 'holding' in told && told.holding === text),
    );
  }

  /** Resolves with the first event of a watched session for which `found` holds. */
  async event(session: string, found: (event: LogEvent) => boolean): Promise<LogEvent> {
    const all = (): LogEvent | undefined => this.events(session).find(found);
    await this.#until(() => all() !== undefined);
    const event = all();
    if (event === undefined) throw new Error('unreachable');
    return event;
  }

  /** What it told of a watched session so far. */
  events(session: string): readonly LogEvent[] {
    return this.#messages.flatMap((told) =>
      'event' in told && told.session === session ? [told.event] : [],
    );
  }

  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal);
  }

  /** Kills it as nothing can be prepared for, and waits until it is gone. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
  }

  /** Ends it cleanly. */
  async close(): Promise<void> {
    await this.command({ do: 'close' });
    await this.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  #count(key: string): number {
    return this.#messages.filter((told) => key in told).length;
  }

  #receive(told: HostMessage): void {
    if ('accepted' in told) this.accepted.push(told.accepted);
    if ('reply' in told) {
      const asked = this.#replies.get(told.reply);
      this.#replies.delete(told.reply);
      if ('error' in told) asked?.reject(new HostCommandError(told.error));
      else asked?.resolve(told.value as never);
    } else this.#messages.push(told);
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
    const news = this.#waiters;
    this.#waiters = [];
    for (const resolve of news) resolve();
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.#gone) throw new HostCommandError({ code: 'died', message: 'The host is gone.' });
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }
}
