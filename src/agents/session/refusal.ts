import type { LogEntry } from '../../core/index.ts';
import { allOf, pure, upTo } from '../../net/index.ts';
import type { TokenPlace, Transition } from '../../net/index.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { isClosed, readClosed } from '../vocabulary/closed-session.ts';

/**
 * Rejects a request that the session's status does not allow, with an error in the log. The log of a closed session does
 * not grow: there the request leaves no event.
 */
export function refusal<T>(name: string, place: TokenPlace<T>, action: string): Transition {
  return pure(name, {
    take: { asked: place },
    read: readClosed,
    priority: -1,
    give: allOf({ events: upTo(1, eventOut) }),
    run: ({ archived, completed }) => {
      const error: LogEntry = {
        type: 'error',
        code: 'illegal_transition',
        message: `The session cannot ${action} in its current status: check its status first.`,
      };
      return { events: isClosed({ archived, completed }) ? [] : [error] };
    },
  });
}
