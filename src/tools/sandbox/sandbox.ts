import type { SandboxLimits } from './sandbox-limits.ts';

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
