/** The exit code of a command. */
export type ExitCode = number;

/** The command is done. */
export const EXIT_OK: ExitCode = 0;
/** The command failed. Without a terminal: a turn failed. For `prove`: not everything was proved. */
export const EXIT_FAILURE: ExitCode = 1;
/** The command line was invalid. */
export const EXIT_USAGE: ExitCode = 2;

const SIGNAL_NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/** A signal ended the command: 130 for a second Ctrl-C during a turn, 143 for `SIGTERM`. The code is 128 plus the number of the signal. */
export function toExitCode(signal: keyof typeof SIGNAL_NUMBERS): ExitCode {
  return 128 + SIGNAL_NUMBERS[signal];
}
