import { omitUndefined } from '../../core/internal.ts';
import { validateStateDelta } from '../../core/index.ts';
import type { JsonObject, LogEntry, StateDelta } from '../../core/index.ts';
import { applyWrites, listWrittenKeys } from '../../net/internal.ts';
import type { MapWrites } from '../../net/index.ts';
import { toKeyWrites } from './state-writes.ts';
import type { SessionWrite } from '../vocabulary/state.ts';

/**
 * The `state.changed` event of a write, with the values after it; none if nothing logged changes. `temp:` keys end with
 * the turn and are not logged.
 * @param state before the write
 */
export function stateChangedEvents(
  { writes, invocationId, author, branch }: Omit<SessionWrite, 'seen'>,
  state: JsonObject,
): readonly LogEntry[] {
  const delta = toLoggedDelta(writes, state);
  const removed = (writes.delete ?? []).filter(isLogged);
  if (Object.keys(delta).length === 0 && removed.length === 0) return [];
  return [
    {
      type: 'state.changed',
      delta,
      ...omitUndefined({
        removed: removed.length > 0 ? removed : undefined,
        invocationId,
        author,
        branch,
      }),
    },
  ];
}

function toLoggedDelta(writes: MapWrites, state: JsonObject): StateDelta {
  const { set, increment, append } = toKeyWrites(writes);
  const assigned = omitUndefined({ set, increment, append });
  const after = applyWrites(state, assigned);
  return validateStateDelta(
    Object.fromEntries(
      listWrittenKeys(assigned)
        .filter(isLogged)
        .map((key) => [key, after[key]]),
    ),
  );
}

function isLogged(key: string): boolean {
  return !key.startsWith('temp:');
}
