import { isPetrichorError } from '../../core/errors/petrichor-error.ts';

/** An error as the journal keeps it: a code for programs, a sentence for people. */
export function toLoggedError(error: unknown): { readonly code: string; readonly message: string } {
  const message = errorMessage(error);
  if (isPetrichorError(error)) return { code: error.code, message };
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return { code: typeof code === 'string' ? code : 'error', message };
}

/** An error as a sentence; never its stack. */
export function errorMessage(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === 'string'
    ? error
    : `something that is no error was thrown: ${typeof error}`;
}
