/** What one command may use. Each has a default; a sandbox says in its own words how firmly it holds each. */
export interface SandboxLimits {
  /** From start to end, in milliseconds. 120,000 unless said. */
  readonly timeMs: number;
  /** Kept of each of the two outputs, half from its beginning and half from its end. 64 KiB unless said. */
  readonly outputBytes: number;
  /** Of all its processes together. 512 MiB unless said. */
  readonly memoryBytes: number;
  /** Processes and threads at once. 128 unless said. */
  readonly processes: number;
  /** The largest file it may write. 256 MiB unless said. */
  readonly fileBytes: number;
}

/** What a command may use that says nothing of it; it may replace each alone. */
export const defaultSandboxLimits: SandboxLimits = {
  timeMs: 120_000,
  outputBytes: 64 * 1024,
  memoryBytes: 512 * 1024 * 1024,
  processes: 128,
  fileBytes: 256 * 1024 * 1024,
};

/** One command: a program and its arguments, not a line for a shell. */
export interface SandboxCommand {
  readonly argv: readonly [program: string, ...args: readonly string[]];
  /** The one folder it may write to, and where it starts. An absolute path of the host. */
  readonly folder: string;
  /** All the variables it sees beside PATH, HOME, LANG and TERM, which these may replace. Nothing is inherited. */
  readonly env?: { readonly [name: string]: string };
  /** What it reads from its standard input; nothing unless said. */
  readonly stdin?: string;
  readonly limits?: Partial<SandboxLimits>;
  /** Ends it: everything it started is dead when `run` rejects. */
  readonly signal?: AbortSignal;
}

/** How a command ended: by itself, or because it reached a limit and was killed with all it had started. */
export type SandboxEnd = 'exit' | 'time limit' | 'memory limit';

/** What a command left behind, apart from its folder. */
export interface SandboxResult {
  readonly endedBy: SandboxEnd;
  /** 0 to 255; 128 and more after a signal. Null when it was killed at a limit. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The middle of an output is missing, and a line in its place says so. */
  readonly truncated: boolean;
}

/** Where commands run that nobody has read. */
export interface Sandbox {
  readonly name: string;
  /** False when commands run as this process itself would: nothing but their folder is asked of them, and nothing is held. */
  readonly isolated: boolean;
  /** The path under which a command sees its folder. */
  readonly pathInside: (folder: string) => string;
  /** Resolves when commands can run here. @throws SandboxUnavailableError which says what is missing. */
  readonly check: () => Promise<void>;
  /**
   * Runs one command to its end, and nothing that it started outlives it.
   * @throws SandboxUnavailableError, and then it has not run; the reason of the signal when that aborted.
   */
  readonly run: (command: SandboxCommand) => Promise<SandboxResult>;
}
