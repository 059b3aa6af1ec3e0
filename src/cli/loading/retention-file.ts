import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { decodeJson } from '../../core/index.ts';
import { getErrorCode, isJsonObject, isPetrichorError } from '../../core/internal.ts';
import { parseRetentionPolicy } from '../../runtime/index.ts';
import type { RetentionPolicy } from '../../runtime/index.ts';
import { UsageError } from '../command/usage-error.ts';

/** Reads a file that says how long sessions are kept. @throws UsageError if it cannot be read, or is invalid */
export function readRetentionPolicy(file: string, cwd: string, command: string): RetentionPolicy {
  try {
    const value = decodeJson(readFileSync(resolve(cwd, file), 'utf8'), file);
    if (!isJsonObject(value)) return parseRetentionPolicy(value);
    // Editors read the schema.
    const { $schema: _, ...policy } = value;
    return parseRetentionPolicy(policy);
  } catch (error) {
    if (!isPetrichorError(error) && getErrorCode(error) === undefined) throw error;
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : ''}`, command);
  }
}
