import type { Connection, Statement } from './connection.ts';

/** Detects commits of other connections by polling, between `start` and `stop`. */
export class ExternalChangeWatcher {
  readonly #version: Statement<{ data_version: number }>;
  readonly #intervalMs: number;
  readonly #onChange: () => void;
  #seen = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(connection: Connection, intervalMs: number, onChange: () => void) {
    this.#version = connection.prepare('PRAGMA data_version');
    this.#intervalMs = intervalMs;
    this.#onChange = onChange;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#seen = this.#read() ?? this.#seen;
    this.#timer = setInterval(() => this.#poll(), this.#intervalMs);
    // Polling alone must not keep the process alive.
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #poll(): void {
    const version = this.#read();
    if (version === undefined || version === this.#seen) return;
    this.#seen = version;
    this.#onChange();
  }

  /** A number that changes with each commit of another connection. Undefined when it cannot be read now. */
  #read(): number | undefined {
    try {
      return this.#version.get()?.data_version;
    } catch {
      return undefined;
    }
  }
}
