/** The exit code of a command. */
export type ExitCode = number;

export const EXIT_OK: ExitCode = 0;
/** The command failed. */
export const EXIT_FAILURE: ExitCode = 1;
/** The command line was invalid. */
export const EXIT_USAGE: ExitCode = 2;

const SIGNAL_NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/** The exit code of a process that a signal ended, by the shell's convention. */
export function toExitCode(signal: keyof typeof SIGNAL_NUMBERS): ExitCode {
  return 128 + SIGNAL_NUMBERS[signal];
}
