import type { JsonObject } from '../../core/index.ts';
import { isEmptyWrites, listOverwrittenKeys, readOwn } from '../../core/internal.ts';
import type { BufferedWrites } from '../../tools/index.ts';
import type { SessionWrite } from '../vocabulary/state.ts';

/**
 * The state changes of a tool or a callback, with the values it read of the keys it changed; undefined if it only read.
 */
export function toSessionWrite(
  { read, based = {}, ...writes }: BufferedWrites,
  state: JsonObject,
): SessionWrite | undefined {
  if (isEmptyWrites(writes)) return undefined;
  const changed = new Set(listOverwrittenKeys(writes));
  const seen = read
    .filter((key) => changed.has(key))
    .map((key) => [key, readOwn(based, key) ?? readOwn(state, key) ?? null] as const);
  return { writes, seen: Object.fromEntries(seen) };
}
