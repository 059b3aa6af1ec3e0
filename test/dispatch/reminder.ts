import { eventOut } from '../../src/agents/index.ts';
import { allOf, initialToken, net, place, pure, upTo } from '../../src/net/index.ts';
import type { Net, TokenPlace } from '../../src/net/index.ts';

const alarm: TokenPlace<null> = place('alarm');

/** Appends a log event when the session was created, or so long after it. */
export const reminder = (afterMs: number): Net =>
  net('reminder', {
    out: { eventOut },
    transitions: [
      pure('remind', {
        take: { alarm },
        ...(afterMs > 0 && { after: afterMs }),
        give: allOf({ events: upTo(1, eventOut) }),
        run: () => ({ events: [{ type: 'error', code: 'reminder', message: 'It is time.' }] }),
      }),
    ],
    initial: [initialToken(alarm, null)],
  });
