import { isJsonObject, type JsonObject } from '../../core/index.ts';
import { omitUndefined } from '../../core/internal.ts';
import type { MessageMetadata } from './message-metadata.ts';

/**
 * The state keys in which version 0.1.0 carried the metadata of a message. A message that it stored, and a turn that it
 * started, have these keys and no metadata.
 */
const TEMP_KEYS: Readonly<Record<string, 'runConfig' | 'traceContext'>> = {
  'temp:run_config': 'runConfig',
  'temp:carried': 'traceContext',
};

/** Reads the metadata of a turn that version 0.1.0 started, or whose message it stored. */
export function readTempMetadata(state: JsonObject): MessageMetadata {
  const entries = Object.entries(TEMP_KEYS).map(([key, field]) => [field, state[key]] as const);
  const { runConfig, traceContext } = Object.fromEntries(entries);
  return omitUndefined({
    runConfig: isJsonObject(runConfig) ? runConfig : undefined,
    traceContext: isJsonObject(traceContext) ? traceContext : undefined,
  });
}

/** True for a key that holds metadata of the caller's message. A called agent gets its own. */
export function isTempMetadataKey(key: string): boolean {
  return Object.hasOwn(TEMP_KEYS, key);
}
