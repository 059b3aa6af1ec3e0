/**
 * The resources that one command may use. How strictly each limit is enforced depends on the
 * sandbox.
 */
export interface SandboxLimits {
  /** Time from start to end, in milliseconds. Default: 120,000. */
  readonly timeMs: number;
  /**
   * Bytes kept of each of stdout and stderr, half from the beginning and half from the end.
   * Default: 64 KiB.
   */
  readonly outputBytes: number;
  /** Memory of all its processes together, in bytes. Default: 512 MiB. */
  readonly memoryBytes: number;
  /** Processes and threads at once. Default: 128. */
  readonly processes: number;
  /** The largest file it may write, in bytes. Default: 256 MiB. */
  readonly fileBytes: number;
}

/** The limits of a command that sets none. A command may override each of them. */
export const defaultSandboxLimits: SandboxLimits = {
  timeMs: 120_000,
  outputBytes: 64 * 1024,
  memoryBytes: 512 * 1024 * 1024,
  processes: 128,
  fileBytes: 256 * 1024 * 1024,
};

/** One command: a program with its arguments, not a shell line. */
export interface SandboxCommand {
  readonly argv: readonly [program: string, ...args: readonly string[]];
  /** The working directory and the only folder it may write to. An absolute path of the host. */
  readonly folder: string;
  /**
   * Environment variables beside PATH, HOME, LANG and TERM, which these may replace. Nothing is
   * inherited from this process.
   */
  readonly env?: { readonly [name: string]: string };
  /** The text of its standard input. Default: empty. */
  readonly stdin?: string;
  readonly limits?: Partial<SandboxLimits>;
  /** Aborts the command. All its processes are dead when `run` rejects. */
  readonly signal?: AbortSignal;
}

/** How a command ended: by exiting, or killed with all its processes at a limit. */
export type SandboxEnd = 'exit' | 'time limit' | 'memory limit';

/** The result of a command, apart from the files in its folder. */
export interface SandboxResult {
  readonly endedBy: SandboxEnd;
  /** 0 to 255; 128 and above after a signal. Null if it was killed at a limit. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** True if the middle of an output was dropped. A line in the output marks the place. */
  readonly truncated: boolean;
}

/** Runs untrusted commands. */
export interface Sandbox {
  readonly name: string;
  /** False if commands run with the rights of this process and can reach more than their folder. */
  readonly isolated: boolean;
  /** The path under which a command sees its folder. */
  readonly pathInside: (folder: string) => string;
  /**
   * Checks that commands can run here.
   * @throws SandboxUnavailableError with what is missing
   */
  readonly check: () => Promise<void>;
  /**
   * Runs one command to its end. None of its processes outlives it.
   * @throws SandboxUnavailableError if it cannot be started, and then it has not run; the abort
   *   reason of the signal if that aborted
   */
  readonly run: (command: SandboxCommand) => Promise<SandboxResult>;
}
