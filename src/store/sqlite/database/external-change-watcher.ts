import type { Connection, Statement } from './connection.ts';

/** Notices what other connections commit, by looking at intervals while someone listens. */
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
    // Listening alone is no reason for a process to go on.
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

  /** The number changes with each commit of another connection. Undefined when it cannot be read just now. */
  #read(): number | undefined {
    try {
      return this.#version.get()?.data_version;
    } catch {
      return undefined;
    }
  }
}
