import { allOf, net, pure, put, upTo } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { sessionWrite, state } from '../vocabulary/state.ts';
import { conflictMessage, conflictingKeys } from './state-conflict.ts';
import { stateChangedEvents } from './state-changed-events.ts';

/** Writes fire before any transition that reads state. */
export const WRITE_PRIORITY = 10;

/**
 * The only transition that writes session state for writers that do not hold the turn. If a value that the writer read
 * has changed since, the whole write is refused with a `state_conflict` error in the log.
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
      return {
        state: {},
        events: [
          {
            type: 'error',
            /**
             * A write to state was made from a value that another writer has changed since. It was not applied. A tool
             * call ends with the outcome `error`.
             * @remedy Read the state and write again, or use `increment` and `append`, which merge.
             */
            code: 'state_conflict',
            message,
          },
        ],
      };
    },
    priority: WRITE_PRIORITY,
  });
  return net('session-writer', {
    in: { sessionWrite },
    out: { state, eventOut },
    transitions: [persist],
  });
}
