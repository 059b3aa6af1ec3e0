import { allOf, net, pure } from 'petrichor/net';
import type { Net } from 'petrichor/net';
import { modelActive, recoveryOut, replyAwaited, silenceFirst, silenceSecond } from './places.ts';

const NUDGE_AFTER_MS = 3_000;
const RECONNECT_AFTER_MS = 3_000;

/**
 * What to do about a model that was asked and stays silent: after three seconds the connection is nudged, three later it
 * is made anew and the reply given up. Never while the model speaks: it is an arc of both stages.
 */
export function liveApiRecovery(): Net {
  const nudge = pure('recovery.nudge', {
    take: { reply: silenceFirst },
    after: NUDGE_AFTER_MS,
    unless: [modelActive],
    give: allOf({ silence: silenceSecond, recovery: recoveryOut }),
    run: ({ reply }) => ({ silence: reply, recovery: { stage: 'nudge' as const, reply } }),
  });

  const reconnect = pure('recovery.reconnect', {
    take: { reply: silenceSecond, awaited: replyAwaited },
    after: RECONNECT_AFTER_MS,
    unless: [modelActive],
    give: allOf({ recovery: recoveryOut }),
    run: ({ reply }) => ({ recovery: { stage: 'reconnect' as const, reply } }),
  });

  return net('live-api-recovery', {
    in: { replyAwaited, silenceFirst, modelActive },
    out: { silenceSecond, recoveryOut },
    transitions: [nudge, reconnect],
  });
}
