/** How a command ended, for the shell. */
export type ExitCode = number;

export const EXIT_OK: ExitCode = 0;
/** It could not be done. */
export const EXIT_FAILURE: ExitCode = 1;
/** It was asked for in a way that makes no sense. */
export const EXIT_USAGE: ExitCode = 2;

const SIGNAL_NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/** Ended by a signal, as shells count it. */
export function toExitCode(signal: keyof typeof SIGNAL_NUMBERS): ExitCode {
  return 128 + SIGNAL_NUMBERS[signal];
}
