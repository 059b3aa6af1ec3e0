import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { decodeJson } from '../../core/index.ts';
import {
  getErrorCode,
  isJsonObject,
  isPetrichorError,
  omitUndefined,
} from '../../core/internal.ts';
import { parseRetentionPolicy } from '../../runtime/index.ts';
import type { RetentionPolicy, SessionArchive } from '../../runtime/index.ts';
import { assertArchive } from '../../runtime/internal.ts';
import type { CliContext } from '../command/cli-context.ts';
import { UsageError } from '../command/usage-error.ts';
import { openArchive } from './open-archive.ts';

/** How long sessions are kept, and where they are archived. */
export interface Retention {
  readonly retention: RetentionPolicy;
  readonly archive?: SessionArchive;
}

/** The options of a command line that say where sessions are archived. */
export type ArchiveCall = Pick<CliContext, 'cwd' | 'env' | 'clock'> & {
  readonly values: { readonly archive: string | undefined };
};

/**
 * Reads the policy of a command line, and opens its archive.
 * @throws UsageError if the file cannot be read or is invalid, or if a rule needs an archive and there is none
 */
export function readRetention(
  file: string,
  call: ArchiveCall,
  command: string,
  isDryRun = false,
): Retention {
  const { archive: place } = call.values;
  const archive = place === undefined ? undefined : openArchive(place, call, command);
  const retention = readRetentionPolicy(file, call.cwd, command);
  try {
    if (!isDryRun) assertArchive(retention, archive);
  } catch (error) {
    throw new UsageError(error instanceof Error ? `--${error.message}` : '', command);
  }
  return { retention, ...omitUndefined({ archive }) };
}

/** @throws UsageError if the file cannot be read, or is invalid */
function readRetentionPolicy(file: string, cwd: string, command: string): RetentionPolicy {
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
