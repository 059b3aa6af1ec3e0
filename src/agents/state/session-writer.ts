import { allOf, net, pure, put, upTo } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { sessionWrite, state } from '../vocabulary/state.ts';
import { stateChangedEvents, conflictMessage, conflictingKeys } from './state-conflict.ts';

/** A write goes before anything that reads state could begin. */
export const WRITE_PRIORITY = 10;

/**
 * The one transition that writes session state for those who do not hold the turn. A write that builds on a value
 * somebody has changed since is refused whole, and the log says so.
 */
export function sessionWriter(): Net {
  const persist = pure('state.persist', {
    take: { write: sessionWrite },
    read: { state },
    give: allOf({ state: put(state), events: upTo(1, eventOut) }),
    run: ({ write, state }) => {
      const conflicts = conflictingKeys(write, state);
      if (conflicts.length === 0)
        return {
          state: write.writes,
          events: stateChangedEvents(write, state),
        };
      const message = conflictMessage(conflicts);
      return { state: {}, events: [{ type: 'error', code: 'state_conflict', message }] };
    },
    priority: WRITE_PRIORITY,
  });
  return net('session-writer', {
    in: { sessionWrite },
    out: { state, eventOut },
    transitions: [persist],
  });
}
