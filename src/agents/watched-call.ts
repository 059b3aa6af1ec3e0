import { isJsonObject } from '../core/index.ts';
import type { Json, JsonObject } from '../core/index.ts';
import { agentHostOf, sessionKeyOf } from './host.ts';
import type { WatchedCall, WatchedWork } from './watch.ts';

/** Where what a message carries stands while its invocation runs; it ends with it. */
export const CARRIED_KEY = 'temp:carried';

/** Makes a call under the eyes of whoever runs the net. */
export async function watched<T>(
  host: unknown,
  state: JsonObject,
  call: Omit<WatchedCall, 'sessionKey' | 'carried' | keyof WatchedWork> & WatchedWork,
  make: () => Promise<T>,
): Promise<T> {
  const watch = agentHostOf(host)?.watch;
  if (watch === undefined) return make();
  const carried = carriedIn(state);
  return watch({ ...call, sessionKey: sessionKeyOf(host), carried }, make);
}

/** What the message of the invocation that runs carried. */
export function carriedIn(state: Readonly<Record<string, Json>>): JsonObject | undefined {
  const carried = state[CARRIED_KEY];
  return isJsonObject(carried) ? carried : undefined;
}
