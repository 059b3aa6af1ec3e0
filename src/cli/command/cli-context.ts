import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../../net/index.ts';

/** The input stream of a command. */
export type InputStream = Readable & { readonly isTTY?: boolean };

/** The output stream of a command. A terminal has a width. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** The signals that a running command handles. */
export type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** The source of signals. While a listener is registered, a signal does not end the process. */
export interface Signals {
  readonly on: (signal: Signal, listener: () => void) => unknown;
  readonly off: (signal: Signal, listener: () => void) => unknown;
}

/** Everything outside itself that a command may use. */
export interface CliContext {
  /** The arguments after the names of the program and the command. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder against which relative paths are resolved. */
  readonly cwd: string;
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly clock: Clock;
  readonly signals: Signals;
  /**
   * Sends a signal to a process of this machine; 0 only asks whether there is one. Returns false if there is none.
   * @throws the error of the system, for a process of another user
   */
  readonly signalProcess: (pid: number, signal: 'SIGTERM' | 0) => boolean;
  /** The version of this program. */
  readonly version: string;
}
