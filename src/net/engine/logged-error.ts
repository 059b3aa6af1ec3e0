import { isPetrichorError, getErrorCode } from '../../core/internal.ts';

/**
 * An error without a code of its own, for example of the program or of another package.
 * @remedy Read the message, and correct the function that threw.
 */
const WITHOUT_CODE = 'error';

/** Returns an error as the journal stores it: `code` for programs, `message` for people. */
export function toLoggedError(error: unknown): { readonly code: string; readonly message: string } {
  const message = errorMessage(error);
  if (isPetrichorError(error)) return { code: error.code, message };
  return { code: getErrorCode(error) ?? WITHOUT_CODE, message };
}

/** Returns the message of an error, never its stack. */
export function errorMessage(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === 'string'
    ? error
    : `a value that is not an Error was thrown: ${typeof error}`;
}
