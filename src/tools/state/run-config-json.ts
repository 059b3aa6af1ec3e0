import { isJsonObject, type JsonObject } from '../../core/index.ts';
import type { StateSnapshot } from './state-buffer.ts';

/** How one invocation is to run, in words of whoever sent its message: tools are told, and nobody else acts on it. */
export type RunConfigJson = JsonObject;

/** Where it stands while the invocation runs, and ends with it. */
export const RUN_CONFIG_KEY = 'temp:run_config';

/** The run config of the invocation whose state this is; empty when none was given. */
export function readRunConfig(snapshot: StateSnapshot): RunConfigJson {
  const value = snapshot.get(RUN_CONFIG_KEY);
  return isJsonObject(value) ? value : {};
}
