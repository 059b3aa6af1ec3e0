import { getErrorCode } from '../errors/get-error-code.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);

/** True for an address to listen on that no other machine reaches. */
export function isLoopbackHost(hostname: string): boolean {
  return LOOPBACK_HOSTS.has(hostname);
}

/**
 * Converts the error of a server that could not listen: a port in use becomes an InvalidInputError.
 * @param remedy the next step, as a sentence
 */
export function toListenError(
  error: Error,
  { port, hostname }: { readonly port: number; readonly hostname: string },
  remedy: string,
): Error {
  if (getErrorCode(error) !== 'EADDRINUSE') return error;
  return new InvalidInputError('port', `${port} of ${hostname} is already in use. ${remedy}`, {
    cause: error,
  });
}
