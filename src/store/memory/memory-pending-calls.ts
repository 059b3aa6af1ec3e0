import { checkPendingCallQuery } from '../rules/list-filters.ts';
import { parsePosition } from '../rules/parse-position.ts';
import {
  formatPendingPosition,
  listOwnCalls,
  parsePendingPosition,
  type PendingPosition,
} from '../rules/pending-position.ts';
import type { PendingCallQuery, SessionPendingCall } from '../store.ts';
import type { MemorySession } from './memory-session.ts';

/** The sessions that have pending calls, so that a listing does not look at the others. */
export class MemoryPendingCalls {
  readonly #sessions = new Set<MemorySession>();

  /** Must be called after every step and deletion of a session. */
  update(session: MemorySession): void {
    if (session.deleted || listOwnCalls(session.summary.pending).length === 0)
      this.#sessions.delete(session);
    else this.#sessions.add(session);
  }

  list(query: PendingCallQuery): readonly SessionPendingCall[] {
    checkPendingCallQuery(query);
    const { appName, userId, agent, tool, needs } = query;
    const limit = parsePosition(query.limit, 'limit');
    const after = query.after === undefined ? undefined : parsePendingPosition(query.after);
    return [...this.#sessions]
      .filter(
        ({ key, agent: ofAgent }) =>
          key.appName === appName &&
          (userId === undefined || key.userId === userId) &&
          (agent === undefined || ofAgent === agent),
      )
      .flatMap((session) =>
        listOwnCalls(session.summary.pending).map((call) => ({
          session,
          call,
          position: [call.since, session.order, call.callId] as const,
        })),
      )
      .filter(
        ({ call, position }) =>
          (tool === undefined || call.name === tool) &&
          (needs === undefined || call.needs === needs) &&
          (after === undefined || comparePositions(position, after) > 0),
      )
      .toSorted((one, other) => comparePositions(one.position, other.position))
      .slice(0, limit)
      .map(({ session, call, position }) => ({
        key: session.key,
        agent: session.agent,
        call,
        position: formatPendingPosition(position),
      }));
  }
}

function comparePositions(one: PendingPosition, other: PendingPosition): number {
  return (
    one[0] - other[0] ||
    one[1] - other[1] ||
    Buffer.compare(Buffer.from(one[2]), Buffer.from(other[2]))
  );
}
