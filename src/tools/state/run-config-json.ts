import { isJsonObject, type JsonObject } from '../../core/index.ts';
import type { StateSnapshot } from './state-buffer.ts';

/**
 * Options that the sender of a message passes for its invocation. Tools can read them; Petrichor
 * does not act on them.
 */
export type RunConfigJson = JsonObject;

/** The state key that holds the run config. Its prefix removes it when the invocation ends. */
export const RUN_CONFIG_KEY = 'temp:run_config';

/** Reads the run config of an invocation from its state; empty if the invocation has none. */
export function readRunConfig(snapshot: StateSnapshot): RunConfigJson {
  const value = snapshot.get(RUN_CONFIG_KEY);
  return isJsonObject(value) ? value : {};
}
