import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { on, once } from 'node:events';
import type { HostCommand, Paths, HostMessage } from './messages.ts';

/** A child process that hosts the session, as its parent sees it. */
export class HostedSession {
  readonly #child: ChildProcess;
  readonly #messages: AsyncIterator<readonly HostMessage[], undefined>;

  /** Starts a process; it tells events after `fromSeq`. */
  constructor(paths: Paths, fromSeq: number) {
    this.#child = fork(new URL('./host.ts', import.meta.url), [JSON.stringify([paths, fromSeq])], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#messages = on(this.#child, 'message', { close: ['disconnect'] });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** What the process tells next. @throws Error when it has ended. */
  async next(): Promise<HostMessage> {
    const { value, done } = await this.#messages.next();
    if (done === true) throw new Error(`Process ${this.pid} ended by itself: see its error above.`);
    const [told] = value;
    if (told === undefined) throw new Error(`Process ${this.pid} told nothing.`);
    return told;
  }

  order(order: HostCommand): void {
    this.#child.send(order);
  }

  /** Ends the process at once: it can do nothing about it. */
  async kill(): Promise<void> {
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }

  async close(): Promise<void> {
    const gone = once(this.#child, 'exit');
    this.order({ close: true });
    const [code]: unknown[] = await gone;
    if (code !== 0) throw new Error(`Process ${this.pid} did not close cleanly.`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.kill();
  }
}
