import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../../net/index.ts';

/** Where a person or a program types. */
export type InputStream = Readable & { readonly isTTY?: boolean };

/** Where a command writes. A terminal says how wide it is. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** What the system may ask of a running command: end, in one of three tones. */
export type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Where signals come from. While somebody listens to one, it does not end the program by itself. */
export interface Signals {
  readonly on: (signal: Signal, listener: () => void) => unknown;
  readonly off: (signal: Signal, listener: () => void) => unknown;
}

/** Everything a command may touch of the world around it. */
export interface CliContext {
  /** Without the names of the program and the command. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that relative paths begin at. */
  readonly cwd: string;
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly clock: Clock;
  readonly signals: Signals;
  /** Of this program. */
  readonly version: string;
}
