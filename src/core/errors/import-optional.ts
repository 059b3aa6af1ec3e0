import { getErrorCode } from './get-error-code.ts';

/**
 * Awaits the import of an optional package.
 * @throws the result of `toError` for the reason of a failed import
 */
export async function importOptional<M>(
  loading: Promise<M>,
  toError: (reason: unknown) => unknown,
): Promise<M> {
  try {
    return await loading;
  } catch (reason) {
    throw toError(reason);
  }
}

/** True for the failure of an import whose module, or a module that it imports, is not installed. */
export function isModuleNotFound(reason: unknown): boolean {
  return getErrorCode(reason) === 'ERR_MODULE_NOT_FOUND';
}
