import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isPetrichorError } from '../../core/internal.ts';
import { decodeJson } from '../../core/index.ts';
import { parseQuotas } from '../../runtime/index.ts';
import type { Quotas } from '../../runtime/index.ts';
import { UsageError } from '../command/usage-error.ts';

/**
 * Reads the file of the option `--quotas`.
 * @throws UsageError if it cannot be read, is not JSON, or has a field that is unknown or invalid
 */
export function readQuotas(file: string, cwd: string, command: string): Quotas {
  try {
    return parseQuotas(decodeJson(readFileSync(resolve(cwd, file), 'utf8'), file), file);
  } catch (error) {
    const isSystemError = error instanceof Error && 'syscall' in error;
    if (!isPetrichorError(error) && !isSystemError) throw error;
    throw new UsageError(`--quotas: ${error.message}`, command);
  }
}
