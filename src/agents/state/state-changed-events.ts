import { omitUndefined } from '../../core/internal.ts';
import { validateStateDelta } from '../../core/index.ts';
import type { Json, LogEntry, StateDelta } from '../../core/index.ts';
import type { MapWrites } from '../../net/index.ts';
import type { SessionWrite } from '../vocabulary/state.ts';

/**
 * The `state.changed` event of a write, with the values after it; none if nothing logged changes. `temp:` keys end with
 * the turn and are not logged.
 * @param state before the write
 */
export function stateChangedEvents(
  { writes, invocationId, author, branch }: Omit<SessionWrite, 'seen'>,
  state: Readonly<Record<string, unknown>>,
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

function toLoggedDelta(writes: MapWrites, state: Readonly<Record<string, unknown>>): StateDelta {
  const after: Record<string, unknown> = { ...writes.set };
  for (const [key, by] of Object.entries(writes.increment ?? {})) {
    const before = state[key];
    after[key] = (typeof before === 'number' ? before : 0) + by;
  }
  for (const [key, items] of Object.entries(writes.append ?? {})) {
    const before = state[key];
    const list: readonly Json[] = Array.isArray(before) ? before : [];
    after[key] = [...list, ...items];
  }
  return validateStateDelta(
    Object.fromEntries(Object.entries(after).filter(([key]) => isLogged(key))),
  );
}

function isLogged(key: string): boolean {
  return !key.startsWith('temp:');
}
