import type { RunnablePosition, SessionRow } from '../store.ts';

/**
 * Where a session is in the order of `findRunnable`: by the time since which it has work. That is the time of its last
 * step if it has effects in flight or unread inputs, otherwise the time at which its timer is due.
 */
export function toRunnablePosition(
  row: Pick<SessionRow, 'key' | 'inFlight' | 'inboxPending' | 'nextDueAt' | 'updatedAt'>,
): RunnablePosition {
  const { key, inFlight, inboxPending, nextDueAt, updatedAt } = row;
  const waits = inFlight === 0 && !inboxPending;
  return { since: waits ? (nextDueAt ?? updatedAt) : updatedAt, key };
}

/** How far `findRunnable` looks ahead for the next timer. */
export const LOOK_AHEAD_MS = 10_000;
