import type { SandboxResult } from '../../sandbox/sandbox.ts';

/**
 * The result of a command for the model. A failed command is a result, not an error: the tool
 * worked.
 */
export interface CommandResponse {
  readonly stdout: string;
  readonly stderr: string;
  /** Missing if the command was killed. */
  readonly exit_code?: number;
  readonly killed?: string;
}

export function commandResponse({
  endedBy,
  exitCode,
  stdout,
  stderr,
}: SandboxResult): CommandResponse {
  return exitCode === null
    ? {
        stdout,
        stderr,
        killed: `It reached its ${endedBy} and was killed with all its processes.`,
      }
    : { stdout, stderr, exit_code: exitCode };
}
