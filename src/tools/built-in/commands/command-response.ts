import type { SandboxResult } from '../../sandbox/sandbox.ts';

/** How a model is told of a command. That it failed is an answer, not an error: the tool did what it was asked. */
export interface CommandResponse {
  readonly stdout: string;
  readonly stderr: string;
  /** Missing when it was killed. */
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
        killed: `It reached its ${endedBy}, and was killed with all it had started.`,
      }
    : { stdout, stderr, exit_code: exitCode };
}
