import type { JsonObject } from '../../core/index.ts';
import { isReadOnly } from '../../tools/internal.ts';
import type { StateWrites } from '../../tools/index.ts';
import type { SessionWrite } from '../vocabulary/state.ts';

/** The state changes of a tool or a callback, with the values it read of the keys it changed; undefined if it only read. */
export function toSessionWrite(writes: StateWrites, state: JsonObject): SessionWrite | undefined {
  if (isReadOnly(writes)) return undefined;
  const { set, delete: removed, increment, append } = writes;
  return { writes: { set, delete: removed, increment, append }, seen: readValues(writes, state) };
}

/** The values that were read of the keys that were then set or deleted. */
function readValues(
  { read, set, delete: removed, based = {} }: StateWrites,
  state: JsonObject,
): JsonObject {
  const changed = [...Object.keys(set), ...removed];
  return Object.fromEntries(
    read
      .filter((key) => changed.includes(key))
      .map((key) => [key, based[key] ?? state[key] ?? null]),
  );
}
