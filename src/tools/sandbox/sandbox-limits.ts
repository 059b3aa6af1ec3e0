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
