import { InvalidInputError } from '../../core/index.ts';
import type { SettledStep, StoredPendingCall } from '../store.ts';

/** The sort key of a pending call: when it began to wait, the number of its session, and its id. */
export type PendingPosition = readonly [since: number, session: number, callId: string];

export function formatPendingPosition(position: PendingPosition): string {
  return JSON.stringify(position);
}

/** @throws InvalidInputError */
export function parsePendingPosition(text: string): PendingPosition {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value) && value.length === 3) {
      const [since, session, callId]: readonly unknown[] = value;
      if (typeof since === 'number' && typeof session === 'number' && typeof callId === 'string')
        return [since, session, callId];
    }
  } catch {
    // Reported below.
  }
  throw new InvalidInputError('after', 'must be the position of a pending call in a listing.');
}

/** Lists the calls that the session itself made. The calls of called agents are listed under their own sessions. */
export function listOwnCalls(
  pending: SettledStep['summary']['pending'],
): readonly StoredPendingCall[] {
  return pending.filter(({ via }) => via === undefined);
}
