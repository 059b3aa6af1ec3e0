import { isJsonObject, type JsonObject } from '../../core/index.ts';
import { omitUndefined } from '../../core/internal.ts';
import type { MessageMetadata } from './message-metadata.ts';

/**
 * The state keys in which version 0.1.0 carried the metadata of a message. A message that it stored, and a turn that it
 * started, have these keys and no metadata.
 */
const RUN_CONFIG_KEY = 'temp:run_config';
const TRACE_CONTEXT_KEY = 'temp:carried';

/** Reads the metadata of a turn that version 0.1.0 started, or whose message it stored. */
export function readTempMetadata(state: JsonObject): MessageMetadata {
  const runConfig = state[RUN_CONFIG_KEY];
  const traceContext = state[TRACE_CONTEXT_KEY];
  return omitUndefined({
    runConfig: isJsonObject(runConfig) ? runConfig : undefined,
    traceContext: isJsonObject(traceContext) ? traceContext : undefined,
  });
}

/** True for a key that holds metadata of the caller's message. A called agent gets its own. */
export function isTempMetadataKey(key: string): boolean {
  return key === RUN_CONFIG_KEY || key === TRACE_CONTEXT_KEY;
}
