import { isTempKey, omitUndefined, restrictWrites, toStateDelta } from '../../core/internal.ts';
import { validateStateDelta } from '../../core/index.ts';
import type { JsonObject, LogEntry } from '../../core/index.ts';
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
  const logged = restrictWrites(writes, (key) => !isTempKey(key));
  const { delta, removed } = toStateDelta(logged, state);
  if (Object.keys(delta).length === 0 && removed.length === 0) return [];
  return [
    {
      type: 'state.changed',
      delta: validateStateDelta(delta),
      ...omitUndefined({
        removed: removed.length > 0 ? removed : undefined,
        invocationId,
        author,
        branch,
      }),
    },
  ];
}
