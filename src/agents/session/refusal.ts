import { allOf, pure, upTo } from '../../net/index.ts';
import type { TokenPlace, Transition } from '../../net/index.ts';
import { eventOut } from '../vocabulary/messages.ts';

/** Rejects a request that the session's status does not allow, with an error in the log. */
export function refusal<T>(name: string, place: TokenPlace<T>, action: string): Transition {
  return pure(name, {
    take: { asked: place },
    priority: -1,
    give: allOf({ events: upTo(1, eventOut) }),
    run: () => ({
      events: [
        {
          type: 'error',
          code: 'illegal_transition',
          message: `The session cannot ${action} in its current status: check its status first.`,
        },
      ],
    }),
  });
}
